package kubelet

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNewFields reads fields that a minor added with the kubelets before it.
func TestNewFields(t *testing.T) {
	t.Parallel()
	const text = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n" +
		"memoryReservationPolicy: Other\ntlsCurvePreferences: [1]\ndefaultPodSysctls: {kernel.shm_rmid_forced: \"1\"}\nimageMinimumGCAge: -1s\n"
	tests := []struct {
		minor    Minor
		warnings []string
		refused  []string
	}{
		{35, []string{
			"tlsCurvePreferences: a kubelet before 1.36 does not know this field",
			"memoryReservationPolicy: a kubelet before 1.36 does not know this field",
			"defaultPodSysctls: a kubelet before 1.37 does not know this field",
		}, nil},
		{36, []string{"defaultPodSysctls: a kubelet before 1.37 does not know this field"}, []string{"imageMinimumGCAge", "memoryReservationPolicy"}},
		{37, nil, []string{"defaultPodSysctls", "imageMinimumGCAge", "memoryReservationPolicy"}},
	}
	for _, test := range tests {
		t.Run(test.minor.String(), func(t *testing.T) {
			t.Parallel()
			c, err := Load(LoadOptions{File: "test", Data: []byte(text), Minor: test.minor})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.warnings, c.Warnings); diff != "" {
				t.Errorf("warnings (-want +got)\n%s", diff)
			}
			var refused []string
			for _, f := range c.Validate(2) {
				refused = append(refused, f.Field)
			}
			if diff := cmp.Diff(test.refused, refused); diff != "" {
				t.Errorf("refused (-want +got)\n%s", diff)
			}
		})
	}
}

// A kubelet reads no field that it does not know, whatever it holds.
func TestNewFieldsUnread(t *testing.T) {
	t.Parallel()
	const text = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 7\ntlsCurvePreferences: [4294967296]\nshowHiddenMetricsForVersion: \"1\"\n"
	if _, err := Load(LoadOptions{File: "test", Data: []byte(text), Minor: 36}); err == nil {
		t.Error("1.36 takes a number beyond int32")
	}
	c, err := Load(LoadOptions{File: "test", Data: []byte(text), Minor: 35})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"tlsCurvePreferences: a kubelet before 1.36 does not know this field"}, c.Warnings); diff != "" || c.MaxPods != 7 {
		t.Errorf("maxPods %d, warnings (-want +got)\n%s", c.MaxPods, diff)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.conf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(LoadOptions{Dir: dir, Minor: 35}); err != nil || c.MaxPods != 7 {
		t.Errorf("as a drop-in: %v", err)
	}
	want := []Finding{{
		Stage: StageValidate, Field: "showHiddenMetricsForVersion",
		Message: "--show-hidden-metrics-for-version must be omitted or have the value '1.34'. Only the previous minor version is allowed",
	}}
	if diff := cmp.Diff(want, c.Validate(2)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
