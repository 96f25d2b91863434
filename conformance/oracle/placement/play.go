package placement

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm/containermap"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"

	"github.com/kqos/kqos/conformance/oracle/apiserver"
	"github.com/kqos/kqos/internal/simulate"
)

// player plays one scenario.
type player struct {
	host   *host
	k      *kubelet
	before simulate.State
	raw    []byte
}

// Run plays the scenario in an empty folder and answers in the form of
// testdata/golden/placement, without explanations.
func Run(s *simulate.Scenario, dir string) *simulate.Result {
	h := &host{dir: dir, containers: containermap.NewContainerMap(), running: sets.New[string]()}
	p := &player{host: h, raw: s.Kubelet}
	r := &simulate.Result{Name: s.Name}
	var stop *simulate.StartError
	if p.k, stop = boot(h, s.Kubelet, s.Machine); stop != nil {
		r.StartError = stop
		return r
	}
	p.k.register()
	p.k.setReady(true)
	p.collect()
	if p.k.policy.cpu == "static" {
		r.Reserved, r.Allocatable = p.k.reserved, p.k.cpus.GetAllocatableCPUs().String()
	}
	p.before = p.state()
	initial := p.before
	r.Initial = &initial
	for _, e := range s.Events {
		result, goOn := p.step(e)
		r.Events = append(r.Events, result)
		if !goOn {
			break
		}
	}
	if p.k != nil {
		p.k.stop()
	}
	r.Files = p.files()
	return r
}

func (p *player) step(e simulate.Event) (simulate.EventResult, bool) {
	switch e.Op {
	case simulate.OpAdd:
		pod := e.Pod.DeepCopy()
		if pod.UID == "" {
			pod.UID = types.UID(pod.Name)
		}
		if pod.Namespace == "" {
			pod.Namespace = "default"
		}
		stored, err := apiserver.Create(pod)
		if err != nil {
			return simulate.EventResult{Op: e.Op, Pod: e.PodName, Message: err.Error()}, false
		}
		stored.Status = v1.PodStatus{Phase: v1.PodPending}
		result := p.admit(simulate.OpAdd, stored)
		if result.Panic != "" {
			return result, false
		}
		if *result.Admitted {
			p.run(stored)
		}
		p.settle(&result)
		return result, true
	case simulate.OpRemove:
		result := simulate.EventResult{Op: e.Op, Pod: e.PodName}
		if !p.end(e.PodName) {
			result.Message = "not active"
		}
		p.settle(&result)
		return result, true
	}
	return p.restart(e)
}

// admit asks the topology manager's admit handler.
func (p *player) admit(op string, pod *v1.Pod) (result simulate.EventResult) {
	result = simulate.EventResult{Op: op, Pod: pod.Name}
	p.host.mu.Lock()
	p.host.active = append(p.host.active, pod)
	p.host.mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			result = simulate.EventResult{Op: op, Pod: pod.Name, Panic: fmt.Sprint(r)}
		}
	}()
	p.k.told.lists = nil
	verdict := p.k.topology.Admit(context.Background(), &lifecycle.PodAdmitAttributes{Pod: pod, Operation: lifecycle.AddOperation})
	result.Admitted, result.Reason = &verdict.Admit, verdict.Reason
	result.Message = strings.ReplaceAll(verdict.Message, p.host.dir, "$DIR")
	if op == simulate.OpAdd {
		result.Hints = p.k.told.lists
	}
	if !verdict.Admit {
		p.host.mu.Lock()
		p.host.active = p.host.active[:len(p.host.active)-1]
		p.host.mu.Unlock()
		return result
	}
	p.k.describe(pod, &result)
	return result
}

// run starts the containers in order; ordinary init containers end before the
// next one starts.
func (p *player) run(pod *v1.Pod) {
	logger := klog.Background()
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		id := p.started(pod, c)
		if kindOf(c) != "sidecar" {
			p.host.running.Delete(id)
			_ = p.k.topology.RemoveContainer(logger, id)
		}
	}
	for i := range pod.Spec.Containers {
		p.started(pod, &pod.Spec.Containers[i])
	}
}

func (p *player) started(pod *v1.Pod, c *v1.Container) string {
	logger := klog.Background()
	id := string(pod.UID) + "/" + c.Name
	p.k.cpus.AddContainer(logger, pod, c, id)
	p.k.memory.AddContainer(logger, pod, c, id)
	p.k.topology.AddContainer(logger, pod, c, id)
	p.host.containers.Add(string(pod.UID), c.Name, id)
	p.host.running.Insert(id)
	return id
}

// end takes a pod off the node.
func (p *player) end(name string) bool {
	p.host.mu.Lock()
	defer p.host.mu.Unlock()
	i := slices.IndexFunc(p.host.active, func(pod *v1.Pod) bool { return pod.Name == name })
	if i < 0 {
		return false
	}
	pod := p.host.active[i]
	p.host.active = slices.Delete(p.host.active, i, i+1)
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		id := string(pod.UID) + "/" + c.Name
		p.host.running.Delete(id)
		p.host.containers.RemoveByContainerID(id)
		_ = p.k.topology.RemoveContainer(klog.Background(), id)
	}
	return true
}

// collect lets the managers drop what ended and refused pods left, by asking
// them for a container that needs nothing.
func (p *player) collect() {
	idle := &v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{{Name: "idle"}}}}
	_ = p.k.cpus.Allocate(context.Background(), idle, &idle.Spec.Containers[0], lifecycle.AddOperation)
	_ = p.k.memory.Allocate(context.Background(), idle, &idle.Spec.Containers[0], lifecycle.AddOperation)
	p.k.devices.UpdateAllocatedDevices(klog.Background())
}

func (p *player) settle(result *simulate.EventResult) {
	p.collect()
	after := p.state()
	if reflect.DeepEqual(after, p.before) {
		result.Unchanged = true
		return
	}
	p.before, result.After = after, &after
}

func (p *player) restart(e simulate.Event) (simulate.EventResult, bool) {
	result := simulate.EventResult{Op: simulate.OpRestart}
	p.k.stop()
	for name, content := range e.Files {
		path := p.path(name)
		if content == nil {
			_ = os.Remove(path)
		} else if err := os.WriteFile(path, []byte(*content), 0o600); err != nil {
			panic(err) // the folder is the test's own
		}
	}
	hardware := p.k.hardware
	if e.Machine != nil {
		hardware = e.Machine
	}
	if e.Kubelet != nil {
		p.raw = e.Kubelet
	}
	var stop *simulate.StartError
	if p.k, stop = boot(p.host, p.raw, hardware); stop != nil {
		result.StartError = stop
		return result, false
	}
	if e.PluginsFirst {
		p.k.register()
	}
	pods := p.host.pods()
	p.host.mu.Lock()
	p.host.active = nil
	p.host.mu.Unlock()
	for _, pod := range pods {
		one := p.admit(simulate.OpReadmit, pod)
		result.Readmit = append(result.Readmit, one)
		if one.Panic != "" {
			result.Panic = one.Panic
			return result, false
		}
	}
	if !e.PluginsFirst {
		p.k.register()
	}
	p.k.setReady(true)
	p.settle(&result)
	return result, true
}

func (p *player) path(name string) string {
	if name == "kubelet_internal_checkpoint" {
		return filepath.Join(p.host.dir, "device-plugins", name)
	}
	return filepath.Join(p.host.dir, name)
}

func (p *player) files() simulate.Files {
	files := simulate.Files{}
	for _, name := range []string{"cpu_manager_state", "memory_manager_state", "kubelet_internal_checkpoint"} {
		if data, err := os.ReadFile(p.path(name)); err == nil {
			files[name] = string(data)
		}
	}
	return files
}
