package cli

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kqos/kqos/internal/admission"
	"github.com/kqos/kqos/internal/manifest"
	"github.com/kqos/kqos/internal/qos"
)

// podClassificationList is the contract of classify.
type podClassificationList struct {
	typeMeta
	Reading admission.Reading   `json:"reading"`
	Items   []podClassification `json:"items"`
}

type podClassification struct {
	Source    manifest.Source    `json:"source"`
	Namespace string             `json:"namespace"`
	Name      string             `json:"name"`
	UID       types.UID          `json:"uid"`
	QOSClass  corev1.PodQOSClass `json:"qosClass"`
	// Critical tells whether the kubelet takes the pod for critical.
	Critical bool                `json:"critical,omitempty"`
	Reasons  []qos.Reason        `json:"reasons"`
	Requests corev1.ResourceList `json:"requests"`
	Limits   corev1.ResourceList `json:"limits"`
	// The amounts that a scheduler counts during an in-place resize.
	RequestsWithStatus corev1.ResourceList       `json:"requestsWithStatus,omitempty"`
	LimitsWithStatus   corev1.ResourceList       `json:"limitsWithStatus,omitempty"`
	Containers         []containerClassification `json:"containers"`
	Cgroup             podCgroup                 `json:"cgroup"`
	Warnings           []string                  `json:"warnings,omitempty"`

	// cpuBound and memoryBound tell whether the pod's cgroup gets its limit: a
	// container without one leaves the pod unbounded.
	cpuBound, memoryBound bool
	// overflows are the resources whose sum the kubelet can't count.
	overflows []corev1.ResourceName
}

type containerType string

const (
	appContainer       containerType = "container"
	initContainer      containerType = "init"
	sidecarContainer   containerType = "sidecar"
	ephemeralContainer containerType = "ephemeral"
)

type containerClassification struct {
	Name     string              `json:"name"`
	Type     containerType       `json:"type"`
	Requests corev1.ResourceList `json:"requests"`
	Limits   corev1.ResourceList `json:"limits"`
	// OOMScoreAdj is nil where it depends on an unknown memory capacity.
	OOMScoreAdj *int64 `json:"oomScoreAdj,omitempty"`
	// ExclusiveCPUs is what the static CPU manager policy gives.
	ExclusiveCPUs int    `json:"exclusiveCPUs"`
	ExclusiveWhy  string `json:"exclusiveWhy"`
}

// podCgroup is the pod's own cgroup under either driver. It is empty where the
// kubelet makes none, with cgroupsPerQOS off.
type podCgroup struct {
	Cgroupfs *cgroupfsCgroup `json:"cgroupfs,omitempty"`
	Systemd  *systemdCgroup  `json:"systemd,omitempty"`
}

type cgroupfsCgroup struct {
	Path string   `json:"path"`
	V1   controls `json:"v1"`
	V2   controls `json:"v2"`
}

type systemdCgroup struct {
	Path         string   `json:"path"`
	Unit         string   `json:"unit"`
	V1           controls `json:"v1"`
	V2           controls `json:"v2"`
	PropertiesV1 controls `json:"propertiesV1"`
	PropertiesV2 controls `json:"propertiesV2"`
}

// controls are control files or properties with their values.
type controls map[string]string
