package placement

import (
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

	"github.com/kqos/kqos/conformance/older"
	"github.com/kqos/kqos/conformance/oracle/apiserver"
)

// player plays one scenario.
type player struct {
	host   *host
	k      *kubelet
	before State
	raw    []byte
}

// Run plays the scenario in an empty folder.
func Run(s *Scenario, dir string) *Result {
	if older.Asked() {
		return older.Ask[*Result]("placement.Run", s, dir)
	}
	h := &host{dir: dir, containers: containermap.NewContainerMap(), running: sets.New[string]()}
	p := &player{host: h, raw: s.Kubelet}
	r := &Result{Name: s.Name}
	var stop *StartError
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

func (p *player) step(e Event) (EventResult, bool) {
	switch e.Op {
	case opAdd:
		pod := e.Pod.DeepCopy()
		if pod.UID == "" {
			pod.UID = types.UID(pod.Name)
		}
		if pod.Namespace == "" {
			pod.Namespace = "default"
		}
		stored, err := apiserver.Create(pod)
		if err != nil {
			return EventResult{Op: e.Op, Pod: e.PodName, Message: err.Error()}, false
		}
		stored.Status = v1.PodStatus{Phase: v1.PodPending}
		result := p.admit(opAdd, stored)
		if result.Panic != "" {
			return result, false
		}
		if *result.Admitted {
			p.run(stored)
		}
		p.settle(&result)
		return result, true
	case opRemove:
		result := EventResult{Op: e.Op, Pod: e.PodName}
		if !p.end(e.PodName) {
			result.Message = "not active"
		}
		p.settle(&result)
		return result, true
	}
	return p.restart(e)
}

// admit asks the topology manager's admit handler.
func (p *player) admit(op string, pod *v1.Pod) (result EventResult) {
	result = EventResult{Op: op, Pod: pod.Name}
	p.host.mu.Lock()
	p.host.active = append(p.host.active, pod)
	p.host.mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			result = EventResult{Op: op, Pod: pod.Name, Panic: fmt.Sprint(r)}
		}
	}()
	p.k.told.lists = nil
	verdict := p.k.verdict(pod)
	result.Admitted, result.Reason = &verdict.Admit, verdict.Reason
	result.Message = strings.ReplaceAll(verdict.Message, p.host.dir, "$DIR")
	if op == opAdd {
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
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		id := p.started(pod, c)
		if kindOf(c) != "sidecar" {
			p.host.running.Delete(id)
			_ = p.k.removed(id)
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
	p.k.added(pod, c, id)
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
		_ = p.k.removed(id)
	}
	return true
}

// collect lets the managers drop what ended and refused pods left, by asking
// them for a container that needs nothing.
func (p *player) collect() {
	idle := &v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{{Name: "idle"}}}}
	p.k.ask(idle)
}

func (p *player) settle(result *EventResult) {
	p.collect()
	after := p.state()
	if reflect.DeepEqual(after, p.before) {
		result.Unchanged = true
		return
	}
	p.before, result.After = after, &after
}

func (p *player) restart(e Event) (EventResult, bool) {
	result := EventResult{Op: opRestart}
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
	var stop *StartError
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
		one := p.admit(opReadmit, pod)
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

func (p *player) files() map[string]string {
	files := map[string]string{}
	for _, name := range []string{"cpu_manager_state", "memory_manager_state", "kubelet_internal_checkpoint"} {
		if data, err := os.ReadFile(p.path(name)); err == nil {
			files[name] = string(data)
		}
	}
	return files
}
