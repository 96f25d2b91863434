package admission

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"hash/fnv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kqos/kqos/internal/kubelet"
)

// EnsureUID gives a pod without metadata.uid one that depends on its namespace
// and name alone, so that it is the same in every run; it returns a sentence on
// that, or "" where the pod has one. A static pod gets 32 hex digits like the
// kubelet's hash, another pod the form of a UUID.
func EnsureUID(pod *corev1.Pod, reading Reading) string {
	if pod.UID != "" {
		return ""
	}
	key := namespaceOf(pod.Namespace) + "/" + pod.Name
	if reading == Static {
		hash := fnv.New128a()
		hash.Write([]byte(key))
		pod.UID = types.UID(hex.EncodeToString(hash.Sum(nil)))
		return "the pod has no metadata.uid: the kubelet hashes node name, file path and its whole internal form of the pod; " +
			"a stable uid derived from namespace and name stands for that (the real one is in the annotation " + kubelet.HashAnnotation + " of the mirror pod)"
	}
	pod.UID = types.UID(uuid(key))
	return "the pod has no metadata.uid: a stable one is derived from namespace and name"
}

// uuid is the version 5 UUID of the name in no namespace.
func uuid(name string) string {
	b := sha1.Sum([]byte(name))
	b[6], b[8] = b[6]&0x0f|0x50, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
