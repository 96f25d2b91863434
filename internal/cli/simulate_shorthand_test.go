package cli

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
)

func TestShorthand(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, cpu, memory, failure string }{
		{"web=4/8Gi", "4", "8Gi", ""},
		{"web=1500m", "1500m", "1Gi", ""},
		{"web", "", "", "there is no ="},
		{"=4", "", "", `the name "" is no name of a pod (lower case letters, digits, - and .)`},
		{"web=", "", "", `cpu "" is no amount above zero`},
		{"web=4/0", "", "", `memory "0" is no amount above zero`},
		{"web=4/8Gi/2", "", "", `memory "8Gi/2" is no amount above zero`},
	}
	for _, tt := range tests {
		pod, err := shorthandPod(tt.text)
		switch {
		case tt.failure != "":
			if err == nil || err.Error() != tt.failure {
				t.Errorf("%s: %v, want %s", tt.text, err, tt.failure)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.text, err)
		default:
			limits := pod.Spec.Containers[0].Resources.Limits
			if limits.Cpu().String() != tt.cpu || limits.Memory().String() != tt.memory {
				t.Errorf("%s: %s and %s, want %s and %s", tt.text, limits.Cpu(), limits.Memory(), tt.cpu, tt.memory)
			}
		}
	}
}

func FuzzShorthand(f *testing.F) {
	for _, text := range []string{"web=4/8Gi", "a.b=1500m", "x=", "=", "a=1/1/1", "a=-1", "a=1e9999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		pod, err := shorthandPod(text)
		if err != nil {
			return
		}
		if class := qos.Class(pod, kubelet.Gates{}); class != corev1.PodQOSGuaranteed {
			t.Errorf("%q makes a %s pod", text, class)
		}
	})
}
