package apply

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"syscall"
	"time"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/cgroups"
)

const (
	memoryMax   = "memory.max"
	memoryMaxV1 = "memory/memory.limit_in_bytes"
	memoryHigh  = "memory.high"
)

// squeezeFor is how long reclaim is given to bring use below a new limit, and
// squeezePoll how often it is looked at.
const (
	squeezeFor  = 5 * time.Second
	squeezePoll = 100 * time.Millisecond
)

// kernelRefuses says whether the kernel itself answers a limit below use with
// EBUSY, after it tried to reclaim: v1 memory. v2 kills instead.
//
// kernel: mm/memcontrol-v1.c mem_cgroup_resize_max; mm/memcontrol.c memory_max_write
func kernelRefuses(file string) bool {
	name := path.Base(file)
	return name == "memory.limit_in_bytes" || name == "memory.memsw.limit_in_bytes"
}

// tooMuch tells that more is in use than a limit would allow. An unreadable use
// is as good as too much: it can't be shown that nobody is hurt.
func tooMuch(file, use, limit string) string {
	if cgroups.UseFile(file) == "" {
		return ""
	}
	to, ok := amount(limit)
	if !ok {
		return ""
	}
	now, ok := amount(use)
	if !ok {
		return fmt.Sprintf("how much of it is in use can't be read, so %s might hurt somebody; --allow-oom writes it all the same", limit)
	}
	if now <= to {
		return ""
	}
	way := "it is tried again at the next apply; --allow-oom writes it all the same"
	if file == memoryMax {
		way = "the kernel would kill; --squeeze lowers memory.high first, --allow-oom writes it all the same"
	}
	return fmt.Sprintf("%s in use, more than the new limit: %s", use, way)
}

// lookBefore looks at the use right before a limit is lowered, since it may
// have grown after the plan was made, and squeezes where that was asked for.
func (p *Plan) lookBefore(ctx context.Context, host Host, s Step, c cgroups.Change) error {
	if p.options.AllowOOM || !lowers(c) {
		return nil
	}
	if isCPUSet(c.File) {
		return childrenFit(host, s.Cgroup.Path, c)
	}
	file := cgroups.UseFile(c.File)
	if file == "" || kernelRefuses(c.File) {
		return nil
	}
	use, err := host.ReadFile(c.Path, file)
	if err != nil && !notThere(err) {
		return fmt.Errorf("reading the use of %s: %w", c.File, err)
	}
	reason := tooMuch(c.File, use, c.To)
	if reason == "" {
		return nil
	}
	if p.options.Squeeze && c.File == memoryMax {
		return squeeze(ctx, host, s.Cgroup, c)
	}
	return fmt.Errorf("%s of cgroup %s: %s", c.File, c.Path, reason)
}

// childrenFit refuses a cpuset that leaves out CPUs which a child was given by
// name: v1 answers EBUSY, v2 silently lets the child run elsewhere.
func childrenFit(host Reader, at string, c cgroups.Change) error {
	to, err := cpuset.Parse(c.To)
	if err != nil {
		return fmt.Errorf("%s of cgroup %s: %w", c.File, at, err)
	}
	children, err := host.Children(at)
	if err != nil {
		return err
	}
	for _, child := range children {
		below := path.Join(at, child)
		text, err := host.ReadFile(below, c.File)
		if notThere(err) {
			continue
		}
		if err != nil {
			return err
		}
		set, err := cpuset.Parse(strings.TrimSpace(text))
		if err == nil && !set.IsSubsetOf(to) {
			return fmt.Errorf("%s of cgroup %s: %s below it has %s, which %s would take away; shrink it first", c.File, at, below, set, c.To)
		}
	}
	return nil
}

// squeeze lowers memory.high to the new limit, gives the kernel time to
// reclaim, and puts memory.high back. It returns nil when memory.max can be
// written without a kill.
func squeeze(ctx context.Context, host Host, cg *cgroups.Cgroup, c cgroups.Change) (err error) {
	before, err := host.ReadFile(c.Path, memoryHigh)
	if err != nil {
		return fmt.Errorf("squeezing cgroup %s: %w", c.Path, err)
	}
	if err = host.Set(cg, map[string]string{memoryHigh: c.To}); err != nil {
		return fmt.Errorf("squeezing cgroup %s: %w", c.Path, err)
	}
	defer func() {
		if restored := host.Set(cg, map[string]string{memoryHigh: before}); restored != nil && err == nil {
			err = fmt.Errorf("ending the squeeze of cgroup %s: %w", c.Path, restored)
		}
	}()
	limit, _ := amount(c.To)
	for end := time.Now().Add(squeezeFor); ; {
		use, err := host.ReadFile(c.Path, cgroups.UseFile(memoryMax))
		if err != nil {
			return fmt.Errorf("squeezing cgroup %s: %w", c.Path, err)
		}
		if now, ok := amount(use); ok && now <= limit {
			return nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return fmt.Errorf("squeezing cgroup %s: %s still in use after %s of reclaim, more than %s; memory.high is back at %s and memory.max as it was", c.Path, use, squeezeFor, c.To, before)
		}
		select {
		case <-ctx.Done():
		case <-time.After(squeezePoll):
		}
	}
}

// retryAtUse does what the kubelet does when v1 refuses a memory limit of a
// tier as below use: it sets what is in use, so that the tier grows no further,
// and tries the wanted limit again later. Kubepods and pods are left as they
// are. The library answers a refusal with words in place of EBUSY, so the use
// itself tells it.
//
// kubelet v1.37: cm/qos_container_manager_linux.go retrySetMemoryReserve;
// cm/node_container_manager_linux.go enforceNodeAllocatableCgroups
func (e *execution) retryAtUse(s Step, c cgroups.Change, refused error) error {
	if errno, told := errors.AsType[syscall.Errno](refused); told && errno != syscall.EBUSY {
		return refused
	}
	use, err := e.host.ReadFile(c.Path, cgroups.UseFile(c.File))
	if err != nil {
		return errors.Join(refused, err)
	}
	now, ok := amount(use)
	if to, known := amount(c.To); !ok || !known || now <= to {
		return refused
	}
	told := fmt.Sprintf("%s of cgroup %s: %s in use, more than the new limit %s, and the kernel can't reclaim it (EBUSY): end or shrink what runs there, or ask for a limit above its use; it is tried again at the next apply",
		c.File, c.Path, use, c.To)
	if from, limited := amount(c.From); !limited || now >= from || s.Cgroup.Level != cgroups.LevelQoS {
		return errors.New(told)
	}
	if err := e.host.Set(s.Cgroup, map[string]string{c.File: use}); err != nil {
		return errors.Join(errors.New(told), err)
	}
	e.log.Info("wrote", "path", c.Path, "file", c.File, "from", c.From, "to", use, "why", "as much as is in use")
	return fmt.Errorf("%s; until then the limit is what is in use, as the kubelet sets it", told)
}
