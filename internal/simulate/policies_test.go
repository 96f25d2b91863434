package simulate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
)

func TestCheckPolicies(t *testing.T) {
	t.Parallel()
	one := machine.Machine{CPUs: []machine.CPU{{ID: 0, Online: true}}, NUMA: []machine.Node{{ID: 0, Memory: 1 << 30}}}
	tests := []struct {
		name, config string
		machine      *machine.Machine
		want         []string
	}{
		{"no policies", ``, &one, nil},
		{"more CPUs reserved than there are", "cpuManagerPolicy: static\nsystemReserved: {cpu: \"10\"}\n", &one, []string{
			"cpuManagerPolicy: new static policy error: [cpumanager] unable to reserve the required amount of CPUs (size of  did not equal 10)",
		}},
		{"the same on an unknown machine", "cpuManagerPolicy: static\nsystemReserved: {cpu: \"10\"}\n", nil, nil},
		{"a CPU option on an unknown machine", "cpuManagerPolicy: static\ncpuManagerPolicyOptions: {nope: \"true\"}\n", nil, []string{
			`cpuManagerPolicyOptions: unknown CPU Manager Policy option: "nope"`,
		}},
		{"a topology option", "topologyManagerPolicy: restricted\ntopologyManagerPolicyOptions: {nope: \"true\"}\n", &one, []string{
			`topologyManagerPolicyOptions: unknown Topology Manager Policy option: "nope"`,
		}},
		{"a topology option of no policy", "topologyManagerPolicyOptions: {nope: \"true\"}\n", &one, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, err := kubelet.Load(kubelet.LoadOptions{File: "test", Data: []byte("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n" + test.config)})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range CheckPolicies(c, test.machine) {
				got = append(got, f.Field+": "+f.Message)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
