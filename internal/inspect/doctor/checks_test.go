package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/inspect"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/simulate"
)

// facts are those of a good v2 node with a configuration, to be spoilt.
func facts(t *testing.T, config, synthetic string) *Facts {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	text := "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n" + config
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := kubelet.Load(kubelet.LoadOptions{File: file})
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.ParseSynthetic("synthetic:" + synthetic)
	if err != nil {
		t.Fatal(err)
	}
	every := cgroups.Controllers()
	return &Facts{
		Config: c, Driver: "systemd", CgroupVersion: 2, Machine: m, Node: allocatable.NewNode(m, nil, 2),
		Cgroups: &Cgroups{Version: 2, Groups: map[string]*Group{
			"/": {In: []string{"unified"}, Controllers: every, Enabled: every}, "/kubepods.slice": {In: []string{"unified"}, Controllers: every, Enabled: every},
		}},
		StateDir: "/var/lib/kubelet", States: simulate.Files{}, Pods: map[string]bool{"uid-1": true},
		Host: &Host{SwapsKnown: true, Kernel: "6.12.1", SystemdRuns: true, Systemd: 257, PSI: true, PSIKnown: true},
	}
}

const four = "cores=4,memory=16Gi"

// TestChecks spoils one fact a row.
func TestChecks(t *testing.T) {
	const enforce = "enforceNodeAllocatable: [pods, system-reserved]\nsystemReservedCgroup: /system.slice\nsystemReserved: {memory: 1Gi, pid: \"1000\"}\n"
	slice := func(g Group) func(*Facts) {
		g.In, g.Controllers = []string{"unified"}, cgroups.Controllers()
		return func(f *Facts) { f.Cgroups.Groups["/system.slice"] = &g }
	}
	live := func(paths ...string) func(*Facts) {
		return func(f *Facts) { f.Cgroups.Live = paths }
	}
	const pod = "/kubepods.slice/kubepods-pod0000.slice"
	id := strings.Repeat("ab", 32)
	for _, tt := range []struct {
		name, config, machine string
		spoil                 func(*Facts)
		id                    string
		status                Status
		message, fix          string
	}{
		{"good config", "", four, nil, "config", OK, "nothing to refuse", ""},
		{"reserves all", "systemReserved: {memory: 99Gi}\n", four, nil, "config", Fail, "invalid Node Allocatable configuration", "change "},
		{"unknown policy", "cpuManagerPolicy: Static\n", four, nil, "config", Fail, `unknown policy: "Static"`, "cpuManagerPolicy"},
		{"no gate", "", four, nil, "feature-gates", OK, "no feature gate is set", ""},
		{"alpha gate", "featureGates: {QOSReserved: true}\n", four, nil, "feature-gates", Warn, "QOSReserved is alpha", "QOSReserved"},
		{"reserved memory", "memoryManagerPolicy: Static\nsystemReserved: {memory: 1Gi}\nreservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]\n", four, nil, "reserved-memory", Fail, `the total amount "1Gi" of type "memory" is not equal to the value "1124Mi"`, "memory: 1124Mi"},
		{"v2", "", four, nil, "cgroup-version", OK, "cgroup v2", ""},
		{"v1 allowed", "failCgroupV1: false\n", four, func(f *Facts) { f.CgroupVersion = 1 }, "cgroup-version", Warn, "will be removed", "cgroup v2"},
		{"no memory controller", "", four, func(f *Facts) { f.Cgroups.Groups["/"].Controllers = []string{"cpu", "cpuset", "pids"} }, "controllers", Fail, "no memory controller", "cgroup_enable=memory"},
		{"controller taken away", "", four, func(f *Facts) {
			f.Cgroups.Groups["/kubepods.slice"].Controllers = []string{"cpu", "memory", "pids", "hugetlb"}
			f.Cgroups.Groups["/"].Enabled = []string{"cpu", "memory", "pids", "hugetlb"}
		}, "controllers", Fail, "cgroup /kubepods.slice has some missing controllers: cpuset", "echo +cpuset > /sys/fs/cgroup/cgroup.subtree_control"},
		{"no reservation", strings.Replace(enforce, "systemReserved:", "kubeReserved:", 1), four, slice(Group{}), "reserved-cgroups", Fail, `Failed to enforce System Reserved Cgroup Limits on "/system.slice": ["system"] cgroup is not configured properly`, "systemReserved"},
		{"service", strings.Replace(enforce, "/system.slice", "/kubelet.service", 1), four, nil, "reserved-cgroups", Fail, "kubelet.service.slice", "name a slice"},
		{"controllers come at start", enforce, four, func(f *Facts) { f.Cgroups.Groups["/system.slice"] = &Group{In: []string{"unified"}} }, "reserved-cgroups", OK, "1 reserved cgroup found in every hierarchy", ""},
		{"empty", enforce, four, slice(Group{}), "reserved-use", Warn, "/system.slice is empty", "Slice=system.slice"},
		{"just room", enforce, four, slice(Group{Tasks: 9, Memory: new(int64(858993459)), PIDs: new(int64(800))}), "reserved-use", OK, "room", ""},
		{"memory near", enforce, four, slice(Group{Tasks: 9, Memory: new(int64(870000000))}), "reserved-use", Warn, "uses 81 % of the memory", "systemReserved.memory"},
		{"tasks near", enforce, four, slice(Group{Tasks: 9, PIDs: new(int64(900))}), "reserved-use", Warn, "uses 90 % of the tasks", "systemReserved.pid"},
		{"daemons wait", strings.Replace(enforce, "memory: 1Gi", "memory: 1Gi, cpu: 500m", 1), four, slice(Group{Tasks: 9, Waits: 21}), "reserved-use", Warn, "waited for a CPU in 21 %", "systemReserved.cpu"},
		{"daemons wait a little", strings.Replace(enforce, "memory: 1Gi", "memory: 1Gi, cpu: 500m", 1), four, slice(Group{Tasks: 9, Waits: 19}), "reserved-use", OK, "room", ""},
		{"nothing reserved to wait for", enforce, four, slice(Group{Tasks: 9, Waits: 90}), "reserved-use", OK, "room", ""},
		{"two placers", "cpuManagerPolicy: static\nreservedSystemCPUs: \"0\"\n", four, func(f *Facts) { f.Host.Plugins = []string{"csi", "dra.cpu"} }, "cpu-placers", Fail, "DRA driver dra.cpu", "cpuManagerPolicy: none"},
		{"the driver alone", "", four, func(f *Facts) { f.Host.Plugins = []string{"dra.cpu"} }, "cpu-placers", OK, "none", ""},
		{"reserved CPUs shared", "cpuManagerPolicy: static\nreservedSystemCPUs: \"0\"\n", four, nil, "cpu-placers", OK, "strict-cpu-reservation is off", ""},
		{"reserved CPUs strict", "cpuManagerPolicy: static\nreservedSystemCPUs: \"0\"\ncpuManagerPolicyOptions: {strict-cpu-reservation: \"true\"}\n", four, nil, "cpu-placers", OK, "no pod runs on reserved ones", ""},
		{"GPU unlinked", "", four, func(f *Facts) { f.Host.Unlinked = []string{"nvidia0", "nvidiactl"} }, "device-links", Warn, "nvidia0, nvidiactl: no link in /dev/char", "create-dev-char-symlinks"},
		{"GPU without systemd", "", four, func(f *Facts) { f.Host.Unlinked, f.Driver = []string{"nvidia0"}, "cgroupfs" }, "device-links", OK, "does not manage", ""},
		{"no huge pages", "", four, nil, "hugepages", OK, "no huge pages", ""},
		{"huge pages on one node", "memoryManagerPolicy: Static\n", "sockets=2,numa=2,cores=4,memory=16Gi", func(f *Facts) { f.Machine.NUMA[1].HugePages = map[string]int64{"1Gi": 2} }, "hugepages", Warn, "huge pages of 1Gi lie on 1 of 2 NUMA nodes", "preallocate on each node"},
		{"huge pages on one node, no policy", "", "sockets=2,numa=2,cores=4,memory=16Gi", func(f *Facts) { f.Machine.NUMA[1].HugePages = map[string]int64{"1Gi": 2} }, "hugepages", OK, "preallocated on every", ""},
		{"huge pages take most", "", four, func(f *Facts) {
			f.Machine.NUMA[0].HugePages = map[string]int64{"1Gi": 9}
			f.Node = allocatable.NewNode(f.Machine, nil, 2)
		}, "hugepages", Warn, "huge pages take 56 % of the memory", "fewer"},
		{"both shapes", "", four, live(pod, "/kubepods/pod0001"), "driver-agreement", Fail, "both shapes at once", "SystemdCgroup = true"},
		{"runtime differs", "", four, func(f *Facts) {
			f.Drivers = []DriverWord{{"/etc/containerd/config.toml: SystemdCgroup = false", "cgroupfs", PartyRuntime}}
		}, "driver-agreement", Fail, "the kubelet uses the systemd driver and the runtime cgroupfs", "cgroupDriver: systemd"},
		{"live names differ", "", four, live(pod, pod+"/"+id), "driver-agreement", Fail, "the runtime cgroupfs", "SystemdCgroup"},
		{"live names agree", "", four, live(pod, pod+"/cri-containerd-"+id+".scope"), "driver-agreement", OK, "kubelet and runtime use systemd", ""},
		{"quotes in the driver", "cgroupDriver: '\"systemd\"'\n", four, nil, "driver-agreement", Warn, `cgroupDriver: "\"systemd\"" is neither systemd nor cgroupfs`, "without quotes inside"},
		{"word for a number", "topologyManagerPolicy: restricted\ntopologyManagerPolicyOptions: {max-allowable-numa-nodes: \"true\"}\n", four, nil, "numa-count", Fail, `unable to convert policy option to integer "max-allowable-numa-nodes"`, "topologyManagerPolicyOptions"},
		{"small letter", "memoryManagerPolicy: static\n", four, nil, "config", Fail, `unknown policy: "static"`, "memoryManagerPolicy"},
		{"config void", "cgroupDriver: cgroupfs\n", four, func(f *Facts) {
			f.Drivers = []DriverWord{{"config: cgroupDriver", "cgroupfs", PartyKubelet}, {"CRI", "systemd", PartyRuntime}}
		}, "driver-agreement", Warn, "is void", "set cgroupDriver: systemd"},
		{"swap on", "", four, func(f *Facts) { f.Host.Swaps = []string{"/dev/sda2"} }, "swap", Fail, "running with swap on is not supported, please disable swap or set --fail-swap-on flag to false", "swapoff -a"},
		{"swap for nobody", "failSwapOn: false\n", four, func(f *Facts) { f.Host.Swaps = []string{"/dev/sda2"} }, "swap", Warn, "NoSwap", "LimitedSwap"},
		{"no swap to limit", "failSwapOn: false\nmemorySwap: {swapBehavior: LimitedSwap}\n", four, nil, "swap", Warn, "there is no swap", "swapon"},
		{"one node", "topologyManagerPolicy: restricted\n", "sockets=1,numa=1,cores=4,memory=9Gi", nil, "numa-count", OK, "1 NUMA node: 2^1 masks", ""},
		{"one node, none", "", "sockets=1,numa=1,cores=4,memory=9Gi", nil, "numa-count", OK, "1 NUMA node, of which topologyManagerPolicy none takes no notice", ""},
		{"nine nodes", "topologyManagerPolicy: restricted\n", "sockets=9,numa=9,cores=9,memory=9Gi", nil, "numa-count", Fail, "unsupported on machines with more than 8 NUMA Nodes", `max-allowable-numa-nodes: "9"`},
		{"nine nodes allowed", "topologyManagerPolicy: restricted\ntopologyManagerPolicyOptions: {max-allowable-numa-nodes: \"9\"}\n", "sockets=9,numa=9,cores=9,memory=9Gi", nil, "numa-count", Warn, "2^9", "fewer"},
		{"half a core", "cpuManagerPolicy: static\nreservedSystemCPUs: \"0\"\n", "cores=4,threads=2", nil, "offline-cpus", Warn, "reserved CPU 0 shares its core with CPU 4", "--suggest-reserved"},
		{"offline", "cpuManagerPolicy: static\nreservedSystemCPUs: \"0\"\n", four, func(f *Facts) { f.Machine.CPUs[3].Online = false }, "offline-cpus", Warn, "CPUs 3 are offline", "online"},
		{"old systemd", "", four, func(f *Facts) { f.Host.Systemd = 241 }, "versions", Warn, "AllowedCPUs and CPUQuotaPeriodUSec", "244"},
		{"old kernel", "", four, func(f *Facts) { f.Host.Kernel = "5.4.0-1" }, "versions", Warn, "before 5.8", "5.8"},
		{"no pressure", "", four, func(f *Facts) { f.Host.PSI = false }, "psi", Warn, "tells no pressure", "psi=1"},
		{"reload", "", four, func(f *Facts) { f.Driver = "cgroupfs" }, "daemon-reload", Warn, "two writers", "systemd"},
		{"file only", "", four, func(f *Facts) {
			f.Reloads = []Reload{{Path: "/system.slice", Unit: "system.slice", File: "memory.max", Have: "4096", Sets: "max"}}
		}, "daemon-reload", Warn, `memory.max of /system.slice reads "4096", and systemd holds "max"`, "systemctl set-property --runtime system.slice MemoryMax=VALUE"},
		{"quota in the file only", "", four, func(f *Facts) {
			f.Reloads = []Reload{{Path: "/a.slice", Unit: "a.slice", File: "cpu.max", Have: "1000 100000", Sets: "max 100000"}}
		}, "daemon-reload", Warn, "a daemon-reload writes that", "a.slice CPUQuota=VALUE"},
		{"delegated cpuset", "", four, func(f *Facts) {
			f.Reloads = []Reload{{Path: "/a/c.scope", Unit: "c.scope", File: "cpuset.cpus", Have: "2-3", Delegated: true}}
		}, "daemon-reload", Warn, "systemd/systemd#40438", "AllowedCPUs"},
		{"held by systemd", "", four, func(f *Facts) { f.ReloadsKnown = true }, "daemon-reload", OK, "systemd holds what", ""},
		{"at high", "", four, func(f *Facts) {
			f.Cgroups.Groups[pod] = &Group{High: new(int64(100 << 20)), Memory: new(int64(96 << 20))}
		}, "memory-high", Warn, "96Mi of memory.high 100Mi", "memoryThrottlingFactor"},
		{"below high", "", four, func(f *Facts) { f.Cgroups.Groups[pod] = &Group{High: new(int64(100)), Memory: new(int64(94))} }, "memory-high", OK, "", ""},
		{"throttled", "", four, func(f *Facts) { f.Cgroups.Groups[pod] = &Group{Periods: 100, Throttled: 25} }, "throttling", Warn, "25 of 100 periods", "CPU limit"},
		{"leak", "", four, func(f *Facts) { f.Leaks = []inspect.Leak{{Path: pod, Why: "1 process", PIDs: []int{7}}} }, "leaks", Warn, "belongs to no pod", "kqos inspect"},
		{"torn devices", "", four, func(f *Facts) { f.States[kubelet.DeviceManagerStateFile] = `{"Data":` }, "device-state", Fail, "starts empty", "drain"},
		{"torn CPUs, memory unknown", "memoryManagerPolicy: Static\n", "cores=4,memory=0", func(f *Facts) { f.States[kubelet.CPUManagerStateFile] = `{"policyName":"no` }, "cpu-state", Skip, "no NUMA node of the machine has memory", ""},
		{"torn CPUs", "cpuManagerPolicy: static\nreservedSystemCPUs: \"0\"\n", four, func(f *Facts) { f.States[kubelet.CPUManagerStateFile] = `{"policyName":"sta` }, "cpu-state", Fail, "start cpu manager error: could not restore state from checkpoint", "rm /var/lib/kubelet/cpu_manager_state"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := facts(t, tt.config, tt.machine)
			if tt.spoil != nil {
				tt.spoil(f)
			}
			chosen, err := Choose(Checks(), []string{tt.id}, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := Run(f, chosen)[0]
			if r.Status != tt.status || !strings.Contains(r.Message, tt.message) || !strings.Contains(r.Fix, tt.fix) || (r.Fix == "") != (r.Status == OK || r.Status == Skip) {
				t.Errorf("%s: %s\nfix: %s\nwant %s: …%s…\nfix: …%s…", r.Status, r.Message, r.Fix, tt.status, tt.message, tt.fix)
			}
		})
	}
}

// TestExplained has each check say what it is for, under a name of its own.
func TestExplained(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Checks() {
		if seen[c.ID] || c.Title == "" || c.Explain == "" {
			t.Errorf("%s: named twice, or not explained", c.ID)
		}
		seen[c.ID] = true
	}
}

// TestNothingKnown runs every check on facts without any host or machine.
func TestNothingKnown(t *testing.T) {
	config, err := kubelet.Load(kubelet.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Run(&Facts{Config: config, Driver: "systemd", CgroupVersion: 2, Node: allocatable.Node{CgroupVersion: 2}}, Checks()) {
		if r.Status != OK && r.Status != Skip {
			t.Errorf("%s: %s: %s", r.ID, r.Status, r.Message)
		}
	}
}

// TestV1Missing tells each hierarchy in which a reserved cgroup has no folder.
func TestV1Missing(t *testing.T) {
	f := facts(t, "failCgroupV1: false\nenforceNodeAllocatable: [system-reserved]\nsystemReservedCgroup: /system.slice\nsystemReserved: {memory: 1Gi}\n", four)
	f.CgroupVersion = 1
	f.Cgroups = &Cgroups{Version: 1, Mounts: map[string]string{}, Groups: map[string]*Group{"/system.slice": {In: []string{"cpu", "cpuacct", "memory", "pids", "systemd"}}}}
	for _, h := range cgroups.Hierarchies() {
		f.Cgroups.Mounts[h] = h
	}
	r := checkReserved(f)
	want := `Failed to enforce System Reserved Cgroup Limits on "/system.slice": cgroup ["system"] has some missing paths: /sys/fs/cgroup/cpuset/system.slice, /sys/fs/cgroup/hugetlb/system.slice`
	if r.Message != want {
		t.Errorf("got  %s\nwant %s", r.Message, want)
	}
	if !strings.Contains(r.Fix, "mkdir -p /sys/fs/cgroup/cpuset/system.slice /sys/fs/cgroup/hugetlb/system.slice") {
		t.Errorf("fix: %s", r.Fix)
	}
}

// TestRepairCPUs keeps the assignments of pods that live.
func TestRepairCPUs(t *testing.T) {
	f := facts(t, "cpuManagerPolicy: static\nreservedSystemCPUs: \"0\"\n", four)
	state := &kubelet.CPUManagerState{
		PolicyName: "static", DefaultCPUSet: cpuset.New(0, 1, 3),
		Entries: map[string]map[string]cpuset.CPUSet{"uid-1": {"c": cpuset.New(1)}, "gone": {"c": cpuset.New(2)}},
	}
	text, err := state.Marshal(f.Config.Gates)
	if err != nil {
		t.Fatal(err)
	}
	f.States[kubelet.CPUManagerStateFile] = string(text)
	if r := checkCPUState(f); r.Status != Fail || !strings.Contains(r.Message, "overlaps with default cpuset") {
		t.Fatalf("%s: %s", r.Status, r.Message)
	}
	f.stateFolder = t.TempDir()
	file := filepath.Join(f.stateFolder, kubelet.CPUManagerStateFile)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	repairs, err := Repairs(f)
	if err != nil || len(repairs) != 1 {
		t.Fatalf("%d repairs, %v", len(repairs), err)
	}
	backup, err := repairs[0].Write()
	if err != nil {
		t.Fatal(err)
	}
	if kept, _ := os.ReadFile(backup); string(kept) != string(text) {
		t.Error("the backup is not the old file")
	}
	mended, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := kubelet.ReadCPUManagerState(mended, "static", f.Config.Gates)
	if err != nil {
		t.Fatal(err)
	}
	if !s.DefaultCPUSet.Equals(cpuset.New(0, 2, 3)) || len(s.Entries) != 1 || !s.Entries["uid-1"]["c"].Equals(cpuset.New(1)) {
		t.Errorf("mended to %s", mended)
	}
	f.Kubelet = 7
	if _, err := Repairs(f); err == nil {
		t.Error("repairs under a running kubelet")
	}
}

// TestRepairMemory takes what a new kernel left of each node.
func TestRepairMemory(t *testing.T) {
	const config = "memoryManagerPolicy: Static\nsystemReserved: {memory: 1Gi}\nreservedMemory: [{numaNode: 0, limits: {memory: 1124Mi}}]\n"
	before := facts(t, config, "sockets=2,numa=2,cores=4,memory=16Gi")
	n, err := simulate.NewNode(before.spec(), nil)
	if err != nil {
		t.Fatal(err)
	}
	f := facts(t, config, "sockets=2,numa=2,cores=4,memory=16Gi")
	f.Machine.NUMA[1].Memory -= 4 << 20
	f.States[kubelet.MemoryManagerStateFile] = n.Files()[kubelet.MemoryManagerStateFile]
	r := checkMemoryState(f)
	if r.Status != Fail || r.Message != "start memory manager error: [memorymanager] the expected machine state is different from the real one" {
		t.Fatalf("%s: %s", r.Status, r.Message)
	}
	if !strings.Contains(strings.Join(r.Evidence, "\n"), "NUMA node 1: memory 8589934592 bytes in the file, 8585740288 now (-4194304)") {
		t.Errorf("evidence: %q", r.Evidence)
	}
	repairs, err := Repairs(f)
	if err != nil || len(repairs) != 1 || repairs[0].content == nil {
		t.Fatalf("%v, %v", repairs, err)
	}
	f.States[kubelet.MemoryManagerStateFile] = string(repairs[0].content)
	if r := checkMemoryState(f); r.Status != OK {
		t.Errorf("%s: %s", r.Status, r.Message)
	}
}

// TestRepairDevices moves a torn checkpoint away before the kubelet writes over
// it.
func TestRepairDevices(t *testing.T) {
	f := facts(t, "", four)
	f.stateFolder, f.devicePlace = t.TempDir(), "device-plugins"
	f.States[kubelet.DeviceManagerStateFile] = `{"Data":`
	file := filepath.Join(f.stateFolder, f.devicePlace, kubelet.DeviceManagerStateFile)
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"Data":`), 0o600); err != nil {
		t.Fatal(err)
	}
	repairs, err := Repairs(f)
	if err != nil || len(repairs) != 1 || repairs[0].File != file {
		t.Fatalf("%v, %v", repairs, err)
	}
	backup, err := repairs[0].Write()
	if err != nil {
		t.Fatal(err)
	}
	if kept, _ := os.ReadFile(backup); string(kept) != `{"Data":` {
		t.Errorf("the backup holds %q", kept)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the torn file stands there: %v", err)
	}
}
