package fleet

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/quantity"
)

// The fields of nodes and pods that kqos reads; all others are skipped without
// being decoded. One type serves both, since the kind may stand anywhere.
type fields struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       struct {
		NodeName          string                       `json:"nodeName"`
		InitContainers    []container                  `json:"initContainers"`
		Containers        []container                  `json:"containers"`
		Resources         *corev1.ResourceRequirements `json:"resources"`
		Overhead          corev1.ResourceList          `json:"overhead"`
		Priority          *int32                       `json:"priority"`
		PriorityClassName string                       `json:"priorityClassName"`
	} `json:"spec"`
	Status struct {
		// Of a pod.
		Phase                 corev1.PodPhase                             `json:"phase"`
		QOSClass              corev1.PodQOSClass                          `json:"qosClass"`
		InitContainerStatuses []containerStatus                           `json:"initContainerStatuses"`
		ContainerStatuses     []containerStatus                           `json:"containerStatuses"`
		AllocatedResources    corev1.ResourceList                         `json:"allocatedResources"`
		Resources             *corev1.ResourceRequirements                `json:"resources"`
		Claims                []corev1.NodeAllocatableResourceClaimStatus `json:"nodeAllocatableResourceClaimStatuses"`
		Conditions            []condition                                 `json:"conditions"`
		// Of a node.
		Capacity    corev1.ResourceList `json:"capacity"`
		Allocatable corev1.ResourceList `json:"allocatable"`
		NodeInfo    *struct {
			KubeletVersion string `json:"kubeletVersion"`
			Architecture   string `json:"architecture"`
		} `json:"nodeInfo"`
	} `json:"status"`
}

type metadata struct {
	Name              string       `json:"name"`
	Namespace         string       `json:"namespace"`
	UID               types.UID    `json:"uid"`
	CreationTimestamp *metav1.Time `json:"creationTimestamp"`
	Annotations       struct {
		Source string `json:"kubernetes.io/config.source"`
		Mirror string `json:"kubernetes.io/config.mirror"`
	} `json:"annotations"`
	Labels struct {
		InstanceType string `json:"node.kubernetes.io/instance-type"`
	} `json:"labels"`
}

type container struct {
	Name          string                         `json:"name"`
	Resources     corev1.ResourceRequirements    `json:"resources"`
	RestartPolicy *corev1.ContainerRestartPolicy `json:"restartPolicy"`
}

type containerStatus struct {
	Name               string                       `json:"name"`
	AllocatedResources corev1.ResourceList          `json:"allocatedResources"`
	Resources          *corev1.ResourceRequirements `json:"resources"`
}

type condition struct {
	Type   corev1.PodConditionType `json:"type"`
	Status corev1.ConditionStatus  `json:"status"`
	Reason string                  `json:"reason"`
}

// kinds that are read.
const (
	kindNode     = "Node"
	kindPod      = "Pod"
	kindTopology = "NodeResourceTopology"
)

// decoder decodes objects one after the other. It remembers the quantities that
// it parsed, most of which come again.
type decoder struct {
	options    json.Options
	quantities map[string]resource.Quantity
}

// maxQuantities bounds what a decoder remembers.
const maxQuantities = 4096

func newDecoder() *decoder {
	d := &decoder{quantities: map[string]resource.Quantity{}}
	d.options = json.JoinOptions(jsonOptions(), json.WithUnmarshalers(json.UnmarshalFromFunc(d.quantity)))
	return d
}

func (d *decoder) quantity(in *jsontext.Decoder, q *resource.Quantity) error {
	value, err := in.ReadValue()
	if err != nil {
		return err
	}
	if value.Kind() == 'n' {
		return nil
	}
	text := strings.Trim(string(value), `"`)
	parsed, known := d.quantities[text]
	if !known {
		if parsed, err = quantity.Parse(text); err != nil {
			return err
		}
		if len(d.quantities) < maxQuantities {
			d.quantities[text] = parsed
		}
	}
	*q = parsed.DeepCopy()
	return nil
}

// decode reads an object; text is its JSON.
func (d *decoder) decode(o object) (f *fields, text []byte, err error) {
	text = o.text
	if o.yaml {
		if text, err = yaml.YAMLToJSON(o.text); err != nil {
			return nil, nil, err
		}
	}
	f = &fields{}
	err = json.Unmarshal(text, f, d.options)
	if err != nil {
		// Of a kind that is not read, the fields may mean something else.
		var head struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Name      string `json:"name"`
				Namespace string `json:"namespace"`
			} `json:"metadata"`
		}
		_ = json.Unmarshal(text, &head, d.options)
		f = &fields{Kind: head.Kind, Metadata: metadata{Name: head.Metadata.Name, Namespace: head.Metadata.Namespace}}
	}
	if f.Kind == "" {
		f.Kind = o.of
	}
	if f.Kind == "" {
		f.Kind = f.guessKind()
	}
	if err != nil && f.Kind != kindNode && f.Kind != kindPod {
		err = nil
	}
	return f, text, inField(err)
}

// inField says in which field an error is, as kubectl writes paths.
func inField(err error) error {
	semantic, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return err
	}
	path := ""
	for token := range semantic.JSONPointer.Tokens() {
		if _, err := strconv.Atoi(token); err == nil {
			token = "[" + token + "]"
		}
		path = strings.TrimPrefix(quantity.JoinPath(path, token), ".")
	}
	if semantic.Err != nil {
		return fmt.Errorf("%s: %w", path, semantic.Err)
	}
	return fmt.Errorf("%s: a JSON %s where %s is expected", path, semantic.JSONKind, semantic.GoType)
}

// guessKind tells the items of a list whose kind comes only after them.
func (f *fields) guessKind() string {
	switch {
	case len(f.Spec.Containers) > 0:
		return kindPod
	case f.Status.NodeInfo != nil || f.Status.Capacity != nil:
		return kindNode
	}
	return ""
}

// pod makes the Pod of what was read.
func (f *fields) pod() *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: f.Metadata.Name, Namespace: f.Metadata.Namespace, UID: f.Metadata.UID}}
	if f.Metadata.CreationTimestamp != nil {
		p.CreationTimestamp = *f.Metadata.CreationTimestamp
	}
	for name, value := range map[string]string{kubelet.SourceAnnotation: f.Metadata.Annotations.Source, kubelet.MirrorAnnotation: f.Metadata.Annotations.Mirror} {
		if value != "" {
			metav1.SetMetaDataAnnotation(&p.ObjectMeta, name, value)
		}
	}
	p.Spec = corev1.PodSpec{
		NodeName: f.Spec.NodeName, Resources: f.Spec.Resources, Overhead: f.Spec.Overhead,
		Priority: f.Spec.Priority, PriorityClassName: f.Spec.PriorityClassName,
		InitContainers: containers(f.Spec.InitContainers), Containers: containers(f.Spec.Containers),
	}
	p.Status = corev1.PodStatus{
		Phase: f.Status.Phase, QOSClass: f.Status.QOSClass, AllocatedResources: f.Status.AllocatedResources, Resources: f.Status.Resources,
		InitContainerStatuses: statuses(f.Status.InitContainerStatuses), ContainerStatuses: statuses(f.Status.ContainerStatuses),
		NodeAllocatableResourceClaimStatuses: f.Status.Claims,
	}
	for _, c := range f.Status.Conditions {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status, Reason: c.Reason})
	}
	return p
}

func containers(list []container) []corev1.Container {
	out := make([]corev1.Container, len(list))
	for i, c := range list {
		out[i] = corev1.Container{Name: c.Name, Resources: c.Resources, RestartPolicy: c.RestartPolicy}
	}
	return out
}

func statuses(list []containerStatus) []corev1.ContainerStatus {
	out := make([]corev1.ContainerStatus, len(list))
	for i, c := range list {
		out[i] = corev1.ContainerStatus{Name: c.Name, AllocatedResources: c.AllocatedResources, Resources: c.Resources}
	}
	return out
}
