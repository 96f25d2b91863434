package cgroups

import (
	"encoding/json"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
)

type nameInput struct {
	Op, Path, CgroupRoot, CgroupDriver, PodUID string
	Components                                 []string
	CgroupsPerQOS                              bool
	QoSClass                                   corev1.PodQOSClass
}

type nameAnswer struct {
	Cgroupfs, Systemd, Unit, Wants, Path string
	Components                           []string
	IsPod                                bool
	PodUID                               string
	Panic, Error                         string
}

func TestNamesGolden(t *testing.T) {
	type namesCase struct {
		Name  string
		Input nameInput
		Want  nameAnswer
	}
	for _, c := range golden[namesCase](t, "names.json") {
		got := answerName(t, c.Input)
		if c.Want.Panic != "" {
			c.Want.Error, c.Want.Panic = c.Want.Panic, ""
		}
		if diff := cmp.Diff(c.Want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.Name, diff)
		}
	}
}

func answerName(t *testing.T, in nameInput) (a nameAnswer) {
	t.Helper()
	var err error
	switch in.Op {
	case "toPaths":
		a.Cgroupfs, _ = Name(in.Components).Path(Cgroupfs)
		if a.Systemd, err = Name(in.Components).Path(Systemd); err == nil {
			a.Unit, a.Wants = Unit(a.Systemd)
		}
	case "fromCgroupfs":
		a.Components = ParseName(in.Path)
	case "fromSystemd":
		a.Components = ParseDriverName(Systemd, in.Path)
	case "root":
		a.Path, err = Root(in.CgroupRoot, in.CgroupsPerQOS).Path(in.CgroupDriver)
	case "pod":
		var name Name
		if name, err = PodName(Root(in.CgroupRoot, true), in.QoSClass, in.PodUID); err == nil {
			a.Components = name
			a.Path, err = name.Path(in.CgroupDriver)
		}
	case "isPod":
		a.PodUID, a.IsPod = IsPod(Root(in.CgroupRoot, true), ParseDriverName(in.CgroupDriver, in.Path))
	case "expandSlice":
		a.Path, err = expandSlice(in.Path)
	default:
		t.Fatalf("unknown operation %q", in.Op)
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

// TestIsPodOfCaseB61 finds the pods among the folders that ended pods, runtimes
// and others left below kubepods.
func TestIsPodOfCaseB61(t *testing.T) {
	const folder = "../../testdata/cases/B61-orphaned-pod-cgroups/"
	text, err := os.ReadFile(folder + "tree.txt")
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		Runs []struct {
			Expect struct{ PodCgroupsOnDisk map[string]string }
		}
	}
	data, err := os.ReadFile(folder + "expected.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.FieldsSeq(string(text)) {
		for at := "/" + line; at != "/"; at = path.Dir(at) {
			if uid, ok := IsPod(Root("/", true), ParseDriverName(Systemd, at)); ok {
				got[uid] = at
			}
		}
	}
	if diff := cmp.Diff(expected.Runs[0].Expect.PodCgroupsOnDisk, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"/", "", "/kubepods/burstable/pod1-2", "/a//b", "kube/", "/kubepods.slice/x-pod_.slice", "..", "-", "pod\npod"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, driver := range []string{Cgroupfs, Systemd} {
			name := ParseDriverName(driver, text)
			p, err := name.Path(driver)
			if err != nil {
				continue
			}
			if !strings.HasPrefix(p, "/") {
				t.Errorf("%s: path %q of %q is not absolute", driver, p, text)
			}
			if p == "/" {
				continue // the kubelet reads it back as the component "/"
			}
			again, err := ParseDriverName(driver, p).Path(driver)
			if err != nil || again != p {
				t.Errorf("%s: %q gives the path %q, which reads back as %q (%v)", driver, text, p, again, err)
			}
			IsPod(Root(text, true), name)
		}
		if child, err := Root(text, true).Child(text); err == nil && strings.ContainsAny(child[len(child)-1], "/_") {
			t.Errorf("component %q was taken", text)
		}
	})
}
