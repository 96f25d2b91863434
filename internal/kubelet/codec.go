package kubelet

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	kubeletv1 "k8s.io/kubelet/config/v1"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"

	"github.com/kqos/kqos/internal/quantity"
)

// configKind is the one kind and version in which a kubelet is configured.
func configKind() schema.GroupVersionKind {
	return kubeletv1beta1.SchemeGroupVersion.WithKind("KubeletConfiguration")
}

// decoders are Kubernetes' own for the kubelet's API group, because their error
// texts are what a user of the kubelet sees.
var decoders = sync.OnceValue(func() (d struct{ strict, lenient runtime.Decoder }) {
	scheme := runtime.NewScheme()
	utilruntime.Must(kubeletv1beta1.AddToScheme(scheme))
	utilruntime.Must(kubeletv1.AddToScheme(scheme))
	d.strict = serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	d.lenient = serializer.NewCodecFactory(scheme, serializer.DisableStrict).UniversalDeserializer()
	return d
})

// decodeFile reads the content of a --config file, strictly first. What only
// the strict reading refuses, such as a misspelt field, the kubelet logs and
// ignores: it is the warning.
//
// kubelet v1.37: pkg/kubelet/kubeletconfig/util/codec DecodeKubeletConfiguration.
func decodeFile(data []byte) (c *kubeletv1beta1.KubeletConfiguration, warning string, err error) {
	if err := checkQuantities(data); err != nil {
		return nil, "", fmt.Errorf("failed to decode: %w", err)
	}
	obj, gvk, err := decoders().strict.Decode(data, nil, nil)
	if err != nil {
		if !runtime.IsStrictDecodingError(err) {
			return nil, "", fmt.Errorf("failed to decode: %w", err)
		}
		warning = err.Error()
		if obj, gvk, err = decoders().lenient.Decode(data, nil, nil); err != nil {
			return nil, "", fmt.Errorf("failed lenient decoding: %w", err)
		}
	}
	c, ok := obj.(*kubeletv1beta1.KubeletConfiguration)
	if !ok {
		return nil, "", fmt.Errorf("failed to cast object to KubeletConfiguration, unexpected type: %v", gvk)
	}
	return c, warning, nil
}

// checkQuantities finds a quantity that the decoders would never get done with.
func checkQuantities(data []byte) error {
	return quantity.CheckYAML(data, reflect.TypeFor[kubeletv1beta1.KubeletConfiguration]())
}

// decodeDropin reads a drop-in as JSON. Unlike in the main file, a duplicate
// key is an error and a misspelt field goes unseen.
//
// kubelet v1.37: pkg/kubelet/kubeletconfig/util/codec DecodeKubeletConfigurationIntoJSON.
func decodeDropin(data []byte) ([]byte, *schema.GroupVersionKind, error) {
	var u unstructured.Unstructured
	_, gvk, err := decoders().strict.Decode(data, nil, &u)
	if err != nil {
		return nil, nil, err
	}
	out, err := json.Marshal(u.Object)
	return out, gvk, err
}

// topFields adds the names of the fields that a JSON object sets.
func topFields(written map[string]bool, data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return errors.New("not a JSON object")
	}
	for name, value := range fields {
		if string(value) == "null" {
			delete(written, name)
			continue
		}
		written[name] = true
	}
	return nil
}
