package apply

import (
	"strings"
	"testing"
	"time"
)

// fight changes a file of the pod back after each pass and wants it written once
// and then only as often as kqos tries again.
func fight(t *testing.T, f *fake, rounds int, pass func()) {
	t.Helper()
	writes := 0
	for range rounds {
		pass()
		if f.groups[podPath].files["cpu.weight"] == "4" {
			writes++
		}
		f.groups[podPath].files["cpu.weight"] = "9"
	}
	if writes != 1+maxRewrites {
		t.Errorf("written %d times, want once and %d rewrites", writes, maxRewrites)
	}
}

// memoryAt is a memory whose clock shows what now holds.
func memoryAt(now *time.Time) *Memory {
	m := NewMemory()
	m.Now = func() time.Time { return *now }
	return m
}

func TestContended(t *testing.T) {
	tree := node(1)
	f := newFake()
	now := time.Unix(0, 0)
	m := memoryAt(&now)
	var p *Plan
	fight(t, f, 60, func() {
		var err error
		if p, _, err = pass(tree, f, Options{}, m); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Second)
	})
	if want := podPath + " cpu.weight: contended"; !strings.Contains(reasons(p), want) {
		t.Errorf("reasons lack %q:\n%s", want, reasons(p))
	}
	if m.Contended() != 1 {
		t.Errorf("%d contended, want 1", m.Contended())
	}
	now = now.Add(time.Hour)
	if p, _, _ = pass(tree, f, Options{}, m); len(p.Steps) != 0 {
		t.Error("the fight went on an hour later")
	}
	m.Forget()
	if p, _, _ = pass(tree, f, Options{}, m); len(p.Steps) != 1 {
		t.Error("not written after a reload")
	}
}

// Runs from cron, one after another, are one writer: what they had to write
// again stands on the cgroup.
func TestContendedAcrossRuns(t *testing.T) {
	tree := node(1)
	f := newFake()
	now := time.Unix(0, 0)
	run := func(forget bool) *Plan {
		t.Helper()
		m := memoryAt(&now)
		if forget {
			m.Forget()
		}
		p, _, err := pass(tree, f, Options{}, m)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	fight(t, f, 9, func() {
		run(false)
		now = now.Add(time.Minute)
	})
	now = now.Add(time.Hour)
	if p := run(false); len(p.Steps) != 0 || !strings.Contains(reasons(p), "--retry-contended") {
		t.Errorf("an hour later: %v, %s", p.Steps, reasons(p))
	}
	if n := len(f.groups[podPath].kept); n == 0 || n > 200 {
		t.Errorf("%d bytes are kept on the cgroup: %s", n, f.groups[podPath].kept)
	}
	if f.groups["/kubepods"].kept != "" {
		t.Errorf("kept on a cgroup that nobody changes: %s", f.groups["/kubepods"].kept)
	}
	if p := run(true); len(p.Steps) != 1 || f.groups[podPath].files["cpu.weight"] != "4" {
		t.Errorf("with --retry-contended: %v", p.Steps)
	}
}

// Another value that is wanted is written, whatever was fought over before.
func TestContendedEndsWithItsValue(t *testing.T) {
	f := newFake()
	for range 6 {
		if _, _, err := pass(node(1), f, Options{}, nil); err != nil {
			t.Fatal(err)
		}
		f.groups[podPath].files["cpu.weight"] = "9"
	}
	other := node(1)
	other.Cgroups[3].Files["cpu.weight"] = "8"
	p, _, err := pass(other, f, Options{}, nil)
	if err != nil || len(p.Withheld) != 0 || f.groups[podPath].files["cpu.weight"] != "8" {
		t.Errorf("%v, %s", err, reasons(p))
	}
}

// A cgroup that is made anew starts without a history, and one that cannot be
// read keeps nobody from work.
func TestContendedForgetsWhatIsGone(t *testing.T) {
	f := newFake()
	m := NewMemory()
	for range 6 {
		if _, _, err := pass(node(1), f, Options{}, m); err != nil {
			t.Fatal(err)
		}
		if f.groups[podPath].files["cpu.weight"] != "4" {
			t.Fatal("making a pod again counted as a fight")
		}
		delete(f.groups, podPath)
	}
	if _, _, err := pass(node(1), f, Options{}, m); err != nil {
		t.Fatal(err)
	}
	f.groups[podPath].kept, f.groups[podPath].files["cpu.weight"] = "{broken", "9"
	if _, result, err := pass(node(1), f, Options{}, nil); err != nil || result.Writes != 1 {
		t.Errorf("%v, %d writes", err, result.Writes)
	}
}

// Planning alone leaves nothing on the host.
func TestPlanKeepsNothing(t *testing.T) {
	f := newFake()
	for range 8 {
		if _, _, err := pass(node(1), f, Options{}, nil); err != nil {
			t.Fatal(err)
		}
		f.groups[podPath].files["cpu.weight"] = "9"
	}
	f.keeps = 0
	for range 3 {
		if _, err := Make(node(1), f, Options{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if f.keeps != 0 {
		t.Errorf("kept %d times", f.keeps)
	}
}

// Slow drift is mended each time: it is no fight.
func TestSlowDriftIsNotContended(t *testing.T) {
	tree := node(1)
	f := newFake()
	now := time.Unix(0, 0)
	m := memoryAt(&now)
	for range 20 {
		if _, _, err := pass(tree, f, Options{}, m); err != nil {
			t.Fatal(err)
		}
		if f.groups["/kubepods"].files["pids.max"] != "1000" {
			t.Fatal("slow drift was left")
		}
		f.groups["/kubepods"].files["pids.max"] = "5"
		now = now.Add(5 * time.Minute)
	}
}
