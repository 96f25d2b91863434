package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadHeld(t *testing.T) {
	f := newFake()
	if _, _, err := pass(node(2), f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	for at, cpus := range map[string]string{
		"/kubepods/burstable/podu0/main":                         "2-3",
		"/kubepods/burstable/podu0/side":                         "0-1",
		"/kubepods/burstable/podu1/idle":                         "",
		"/kubepods/kubepods-pod77_ab.slice":                      "",
		"/kubepods/kubepods-pod77_ab.slice/x-pod77_ab-a_b.slice": "4",
	} {
		f.add(at, true).files["cpuset.cpus"] = cpus
	}
	f.add("/kubepods/burstable/podu1/foreign", false).files["cpuset.cpus"] = "5"
	held, err := ReadHeld(node(0), f, "cpuset.cpus")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for uid, containers := range held {
		for name, set := range containers {
			got[uid+" "+name] = set.String()
		}
	}
	want := map[string]string{"u0 main": "2-3", "u0 side": "0-1", "77-ab a-b": "4"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
