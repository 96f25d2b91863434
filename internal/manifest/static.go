package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// maxStaticFile is the size in bytes from which a kubelet leaves a static pod
// file unread.
//
// kubelet v1.37: pkg/kubelet/config/common.go maxConfigLength.
const maxStaticFile = 10 << 20

// refusedAsStatic tells why the kubelet refuses a file of its static pod folder
// as a whole, or "": it has to be one Pod. Of a YAML file the first document
// counts; after JSON nothing may follow.
//
// kubelet v1.37: pkg/kubelet/config/common.go tryDecodeSinglePod.
func refusedAsStatic(data []byte) string {
	if len(data) >= maxStaticFile {
		return fmt.Sprintf("it has %d MiB or more", maxStaticFile>>20)
	}
	if !startsObject(data) {
		converted, err := yaml.YAMLToJSON(data)
		if err != nil {
			return err.Error()
		}
		data = converted
	}
	var head metav1.TypeMeta
	switch err := json.Unmarshal(data, &head); {
	case err != nil:
		return err.Error()
	case bytes.Equal(data, []byte("null")):
		return "its first document is empty"
	case head.Kind != "Pod" || head.APIVersion != "v1":
		return fmt.Sprintf("its first document is no Pod of v1 but kind %q of apiVersion %q", head.Kind, head.APIVersion)
	}
	return ""
}
