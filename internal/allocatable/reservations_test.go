package allocatable

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/kubelet"
)

func TestParseReservation(t *testing.T) {
	for _, tt := range []struct{ name, text, want, err string }{
		{"cpu", "499u", "0", ""},
		{"cpu", "500u", "1m", ""},
		{"cpu", "1500u", "2m", ""},
		{"cpu", "1", "1", ""},
		{"memory", "1500m", "1500m", ""},
		{"memory", "1e3", "1e3", ""},
		{"pid", "1000", "1k", ""},
		{"cpu", "-1m", "", `resource quantity for "cpu" cannot be negative: -1m`},
		{"memory", "1GB", "", `failed to parse quantity "1GB" for "memory" resource: quantities must match`},
		{"hugepages-2Mi", "1Gi", "", `cannot reserve "hugepages-2Mi" resource`},
		// No amount is too large to parse; the capacity refuses it.
		{"memory", "1e30", "1e30", ""},
		// The rounding of CPU counts millionths in 64 bits.
		{"cpu", "9223372036854", "9223372036854", ""},
		{"cpu", "10000000000000", "-8446744073709551m", ""},
	} {
		q, err := parseReservation(corev1.ResourceName(tt.name), tt.text)
		switch {
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%s %s: error %v, want %s", tt.name, tt.text, err, tt.err)
		case tt.err == "" && (err != nil || q.String() != tt.want):
			t.Errorf("%s %s: %s, error %v, want %s", tt.name, tt.text, &q, err, tt.want)
		}
	}
}

func TestReadReservations(t *testing.T) {
	c, err := kubelet.Load(kubelet.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.ReservedSystemCPUs = "0-1,4"
	c.KubeReserved = map[string]string{"cpu": "nonsense"}
	c.SystemReserved = map[string]string{"cpu": "500m", "memory": "1Gi", "gpu": "1"}
	r, findings := ReadReservations(c)
	if r.Kube != nil {
		t.Errorf("kubeReserved is %v, want nothing: its CPU amount is void", r.Kube)
	}
	if got := r.System.Cpu().String(); got != "3" {
		t.Errorf("systemReserved.cpu is %s, want the number of listed CPUs", got)
	}
	want := []kubelet.Finding{{Stage: "start", Field: "systemReserved.gpu", Message: `--system-reserved value failed to parse: cannot reserve "gpu" resource`}}
	if diff := cmp.Diff(want, findings); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if c.SystemReserved["cpu"] != "500m" {
		t.Error("the configuration was changed")
	}
}

// Amounts beyond int64 are refused, without the address of a number.
func TestCheckCapacityOfHugeAmounts(t *testing.T) {
	c, err := kubelet.Load(kubelet.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.SystemReserved = map[string]string{"memory": "1e30"}
	c.KubeReserved = map[string]string{"memory": "9223372036854775807"}
	_, findings := Compute(c, Node{Capacity: corev1.ResourceList{"memory": resource.MustParse("1Gi")}})
	want := "reservation of 1000000000009223372036854775807 but capacity of {{1073741824 0} {<nil>}  BinarySI}."
	if len(findings) != 1 || !strings.Contains(findings[0].Message, want) {
		t.Errorf("findings %v, want %s", findings, want)
	}
}

func TestParseQOSReserved(t *testing.T) {
	for text, want := range map[string]string{
		"50%": "", "0%": "", "100%": "",
		"50":    `failed to parse percentage "50" for "memory" resource: percentage expected, got '50'`,
		"101%":  "percentage must be between 0 and 100",
		"12.5%": "invalid number in percentage '12.5%'",
		"NaN%":  "invalid number in percentage 'NaN%'",
	} {
		_, err := parseQOSReserved("memory", text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
	if _, err := parseQOSReserved("cpu", "50%"); err == nil || err.Error() != `cannot reserve "cpu" resource` {
		t.Errorf("cpu: error %v", err)
	}
}

func FuzzParseReservation(f *testing.F) {
	f.Add("cpu", "500u")
	f.Add("memory", "1e30")
	f.Fuzz(func(t *testing.T, name, text string) {
		q, err := parseReservation(corev1.ResourceName(name), text)
		if err != nil {
			return
		}
		amount := resource.MustParse(text)
		switch wraps := name == "cpu" && amount.CmpInt64(math.MaxInt64/1_000_000) > 0; {
		case wraps:
		case q.Sign() < 0, name != "cpu" && q.Cmp(amount) != 0:
			t.Errorf("%s %s reserves %s", name, text, &q)
		case name == "cpu":
			amount.Sub(q)
			if off := amount.ScaledValue(resource.Micro); off < -500 || off >= 500 {
				t.Errorf("%s %s reserves %s, %d millionths less", name, text, &q, off)
			}
		}
	})
}
