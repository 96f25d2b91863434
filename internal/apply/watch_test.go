package apply

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kqos/kqos/internal/cgroups"
)

// bench is a loop over a fake host with all its inputs at hand.
type bench struct {
	loop            *Loop
	f               *fake
	tree            cgroups.Tree
	err             error
	asked, locks    int
	changed, hangup chan struct{}
	said            []string
	log             bytes.Buffer
	registry        *prometheus.Registry
	ended           chan error
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{
		f: newFake(), tree: node(3), registry: prometheus.NewRegistry(),
		changed: make(chan struct{}), hangup: make(chan struct{}), ended: make(chan error, 1),
	}
	metrics, err := NewMetrics(b.registry)
	if err != nil {
		t.Fatal(err)
	}
	b.loop = &Loop{
		Host: b.f, Interval: time.Second, Metrics: metrics, Changed: b.changed, Hangup: b.hangup,
		Log:    slog.New(slog.NewTextHandler(&b.log, nil)),
		Notify: func(state string) { b.f.turn.Add(1); b.said = append(b.said, state) },
		Lock:   func(context.Context) (func(), error) { b.f.turn.Add(1); b.locks++; return func() {}, nil },
		Desire: func(context.Context) (Target, error) { b.f.turn.Add(1); b.asked++; return Target{Tree: b.tree}, b.err },
	}
	return b
}

func (b *bench) start(ctx context.Context) { go func() { b.ended <- b.loop.Run(ctx) }() }

// metric sums the samples of a metric.
func (b *bench) metric(t *testing.T, name string) float64 {
	t.Helper()
	families, err := b.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			sum += m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum
}

func TestLoopKeepsTheTree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := newBench(t)
		b.start(ctx)
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		ops, locks := b.f.ops, b.locks
		time.Sleep(time.Minute)
		synctest.Wait()
		if b.f.ops != ops || b.locks != locks || b.asked != 1 {
			t.Errorf("idle ticks: %d operations, %d locks, %d reloads", b.f.ops-ops, b.locks-locks, b.asked-1)
		}
		b.f.change(func() { b.f.groups["/kubepods"].files["pids.max"] = "3" })
		time.Sleep(time.Second)
		synctest.Wait()
		if got := b.f.groups["/kubepods"].files["pids.max"]; got != "1000" {
			t.Errorf("drift after a tick: %s", got)
		}
		if b.log.Len() == 0 || !strings.Contains(b.log.String(), "file=pids.max from=3 to=1000") {
			t.Errorf("log lacks the write: %s", b.log.String())
		}
		for name, want := range map[string]float64{
			"kqos_cgroups_desired": 6, "kqos_cgroups_actual": 6, "kqos_errors_total": 0, "kqos_contended_files": 0,
		} {
			if got := b.metric(t, name); got != want {
				t.Errorf("%s = %v, want %v", name, got, want)
			}
		}
		if b.metric(t, "kqos_tick_duration_seconds") < 60 || b.metric(t, "kqos_writes_total") == 0 {
			t.Error("ticks or writes are not counted")
		}
		cancel()
		if err := <-b.ended; err != nil {
			t.Errorf("stopped with %v", err)
		}
		if diff := cmp.Diff("READY=1\nSTATUS=as wanted (6 cgroups)", b.said[0]); diff != "" {
			t.Errorf("first word (-want +got):\n%s", diff)
		}
		if b.said[len(b.said)-1] != "STOPPING=1" {
			t.Errorf("last word %q", b.said[len(b.said)-1])
		}
	})
}

func TestLoopReloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b := newBench(t)
		b.loop.Interval = time.Hour
		b.start(ctx)
		synctest.Wait()
		b.err = errors.New("pods.yaml: document 1: broken")
		b.changed <- struct{}{}
		synctest.Wait()
		if b.f.groups["/kubepods/burstable/podu2"] == nil || !strings.Contains(b.log.String(), "the last good state is kept") {
			t.Errorf("after a broken edit: %s", b.log.String())
		}
		if b.metric(t, "kqos_errors_total") != 1 {
			t.Error("a broken edit is not counted")
		}
		b.err, b.tree = nil, node(5)
		b.changed <- struct{}{}
		synctest.Wait()
		if b.f.groups["/kubepods/burstable/podu4"] == nil {
			t.Error("the mended edit was not applied at once")
		}
		b.tree = node(6)
		b.hangup <- struct{}{}
		synctest.Wait()
		if b.f.groups["/kubepods/burstable/podu5"] == nil {
			t.Error("SIGHUP did not reload")
		}
		cancel()
		<-b.ended
	})
}

func TestLoopBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := newBench(t)
		b.f.err = syscall.ENOSPC
		b.loop.Watchdog = 20 * time.Second
		tries := 0
		b.f.before = func(op, _ string) {
			if op == "create" {
				tries++
				b.f.failAt = b.f.ops + 1
			}
		}
		b.start(ctx)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if tries < 8 || tries > 20 {
			t.Errorf("%d tries in ten minutes, want about 15", tries)
		}
		if n := len(slices.DeleteFunc(slices.Clone(b.said), func(s string) bool { return s != "WATCHDOG=1" })); n < 50 {
			t.Errorf("%d signs of life in ten minutes of back-off", n)
		}
		b.f.change(func() { b.f.before, b.f.failAt = nil, 0 })
		time.Sleep(maxBackOff + 2*time.Second)
		synctest.Wait()
		if b.f.groups["/kubepods/burstable/podu2"] == nil {
			t.Error("not applied once the trouble was over")
		}
		cancel()
		<-b.ended
	})
}

// What is held back is told once, not each second.
func TestLoopTellsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := newBench(t)
		b.f = kubeletTree(t, node(3))
		b.f.groups["/kubepods"].files["pids.max"] = "1"
		b.tree = node(4)
		b.tree.Cgroups[6].Files["hugetlb.2MB.max"] = "0"
		b.loop.Host = b.f
		b.start(ctx)
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, what := range []string{`"not written" path=/kubepods file=pids.max`, "offers no controller hugetlb"} {
			if n := strings.Count(b.log.String(), what); n != 1 {
				t.Errorf("%s told %d times: %s", what, n, b.log.String())
			}
		}
		cancel()
		<-b.ended
	})
}

func TestLoopNeedsATarget(t *testing.T) {
	b := newBench(t)
	b.err = errors.New("no such file")
	if err := b.loop.Run(t.Context()); err == nil {
		t.Error("began without a valid target")
	}
}
