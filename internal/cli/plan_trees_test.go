package cli

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/machine"
)

// TestPlanOfRecordedTrees compares what is planned for the nodes of
// testdata/golden/kubelet-trees with the trees that a real kubelet made there.
func TestPlanOfRecordedTrees(t *testing.T) {
	folders, err := filepath.Glob("../../testdata/golden/kubelet-trees/*/configz.json")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no recorded trees (%v)", err)
	}
	for _, file := range folders {
		folder := filepath.Dir(file)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			tree, version := recordedTree(t, folder)
			var config struct {
				Kubeletconfig struct{ CgroupDriver string }
				CgroupDriver  string
			}
			readJSON(t, file, &config)
			plan := testPlan(t, "apply", "--dry-run", "--static", "--containers", "--config", folder+"/config.yaml", "-f", folder+"/pods",
				"--driver", or(config.Kubeletconfig.CgroupDriver, config.CgroupDriver), "--cgroup-version", strconv.Itoa(version),
				"--topology", writeJSON(t, recordedMachine(t, folder)))
			var recorded recordedPods
			readJSON(t, folder+"/containers.json", &recorded)
			compareContainers(t, plan, tree, recorded)
			maps.DeleteFunc(plan, func(_ string, c cgroups.Cgroup) bool { return c.Level == cgroups.LevelContainer })
			comparePlan(t, plan, tree, recorded.uids())
		})
	}
}

// recordedCgroups are the files of a node by cgroup: of v2, or of each v1
// hierarchy by its controllers.
type recordedCgroups struct {
	Cgroups     map[string]map[string]string
	Hierarchies map[string]map[string]map[string]string
}

func readRecorded(t testing.TB, folder string) (recorded recordedCgroups) {
	t.Helper()
	readJSON(t, folder+"/tree.json", &recorded)
	return recorded
}

// recordedTree reads the files of each cgroup, keyed as plans key them.
func recordedTree(t *testing.T, folder string) (tree map[string]map[string]string, version int) {
	t.Helper()
	recorded := readRecorded(t, folder)
	if recorded.Cgroups != nil {
		return recorded.Cgroups, 2
	}
	tree = map[string]map[string]string{}
	for controllers, hierarchy := range recorded.Hierarchies {
		controller, _, _ := strings.Cut(controllers, ",")
		for path, files := range hierarchy {
			if tree[path] == nil {
				tree[path] = map[string]string{}
			}
			for file, value := range files {
				tree[path][controller+"/"+file] = value
			}
		}
	}
	return tree, 1
}

// recordedPods are what the kubelet ran or refused.
type recordedPods struct {
	Pods []struct {
		UID        string
		Containers []struct {
			Name, Cgroup string
			OOMScoreAdj  string `json:"oom_score_adj"`
		}
	}
}

func (r recordedPods) uids() []string {
	var uids []string
	for _, p := range r.Pods {
		uids = append(uids, p.UID)
	}
	return uids
}

// compareContainers compares those that still ran with what the runtime made of
// them, whose cgroups have names of its own.
func compareContainers(t *testing.T, plan map[string]cgroups.Cgroup, tree map[string]map[string]string, recorded recordedPods) {
	t.Helper()
	ran := map[string]string{} // oom_score_adj by pod and container
	cgroupOf := map[string]string{}
	for _, p := range recorded.Pods {
		for _, c := range p.Containers {
			if c.Cgroup != "" {
				ran[p.UID+" "+c.Name], cgroupOf[p.UID+" "+c.Name] = c.OOMScoreAdj, c.Cgroup
			}
		}
	}
	compared := 0
	for _, c := range plan {
		if c.Level != cgroups.LevelContainer {
			continue
		}
		key := c.Pod.UID + " " + c.Container
		have, made := tree[cgroupOf[key]]
		if !made {
			continue
		}
		compared++
		if score := strconv.FormatInt(*c.OOMScoreAdj, 10); score != ran[key] {
			t.Errorf("container %s: oom_score_adj planned %s, recorded %s", key, score, ran[key])
		}
		for file, want := range c.Files {
			if value, offered := have[file]; offered && !cgroups.Equal(file, want, value) {
				t.Errorf("container %s %s: planned %s, recorded %s", key, file, want, value)
			}
		}
		for file, untouched := range kernelDefaults() {
			// systemd gives each scope a pids limit of its own.
			if value, offered := have[file]; offered && value != untouched && c.Files[file] == "" && !strings.HasSuffix(file, "pids.max") {
				t.Errorf("container %s %s: recorded %s, nothing is planned", key, file, value)
			}
		}
	}
	if compared == 0 {
		t.Error("no container compared")
	}
}

// recordedMachine reads the lines that the recorder kept of /proc and /sys.
func recordedMachine(t *testing.T, folder string) *machine.Machine {
	t.Helper()
	var recorded struct{ CPUs, Meminfo, Nodes []string }
	readJSON(t, folder+"/machine.json", &recorded)
	m := &machine.Machine{APIVersion: machine.APIVersion, Kind: machine.Kind}
	of := map[int]int{}
	for _, line := range recorded.Nodes {
		var id int
		var cpus, distances string
		fields := regexp.MustCompile(`^node(\d+) cpus=(\S*) dist=([\d ]+?) Node.*MemTotal: +(\d+) kB`).FindStringSubmatch(line)
		if fields == nil {
			t.Fatalf("%s: unknown line %q", folder, line)
		}
		id, _ = strconv.Atoi(fields[1])
		cpus, distances = fields[2], fields[3]
		node := machine.Node{ID: id, Memory: kib(fields[4]), HugePages: map[string]int64{"2Mi": 0, "1Gi": 0}}
		for d := range strings.FieldsSeq(distances) {
			n, _ := strconv.Atoi(d)
			node.Distances = append(node.Distances, n)
		}
		set, err := cpuset.Parse(cpus)
		if err != nil {
			t.Fatal(err)
		}
		for _, cpu := range set.List() {
			of[cpu] = id
		}
		m.NUMA = append(m.NUMA, node)
	}
	for _, line := range recorded.CPUs {
		c := machine.CPU{Online: true}
		if _, err := fmt.Sscanf(line, "processor : %d physical id : %d core id : %d", &c.ID, &c.Socket, &c.Core); err != nil {
			t.Fatalf("%s: %q: %v", folder, line, err)
		}
		c.NUMA, c.LLC = of[c.ID], c.Socket
		m.CPUs = append(m.CPUs, c)
	}
	for _, line := range recorded.Meminfo {
		if value, ok := strings.CutPrefix(line, "MemTotal: "); ok {
			m.Memory = kib(strings.TrimSuffix(value, " kB"))
		}
	}
	return m
}

func kib(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n << 10
}

// ownCgroup are the cgroups that the kubelet itself makes; those of the runtime
// lie below.
var ownCgroup = regexp.MustCompile(`/kubepods(\.slice)?(/(kubepods-)?(burstable|besteffort)(\.slice)?)?(/[^/]*pod[0-9a-f_-]+(\.slice)?)?$`)

// hashed ends the cgroup of a static pod without a UID, to which the kubelet
// gives a hash of its own.
var hashed = regexp.MustCompile(`pod[0-9a-f]{32}(\.slice)?$`)

// kernelDefaults are what files read that nobody wrote.
func kernelDefaults() map[string]string {
	return map[string]string{
		"cpu.weight": "100", "cpu.max": "max 100000", "memory.min": "0", "memory.low": "0", "memory.high": "max", "memory.max": "max",
		"memory.swap.max": "max", "memory.oom.group": "0", "pids.max": "max", "cpuset.cpus": "", "cpuset.mems": "",
		"cpu/cpu.shares": "1024", "cpu/cpu.cfs_quota_us": "-1", "memory/memory.limit_in_bytes": "9223372036854771712", "pids/pids.max": "max",
	}
}

func comparePlan(t *testing.T, plan map[string]cgroups.Cgroup, tree map[string]map[string]string, uids []string) {
	t.Helper()
	compared := 0
	for _, path := range slices.Sorted(maps.Keys(plan)) {
		have, made := tree[path]
		if !made {
			if c := plan[path]; c.Pod == nil || slices.Contains(uids, c.Pod.UID) {
				t.Errorf("%s is planned, and the kubelet made none", path)
			}
			continue
		}
		for file, want := range plan[path].Files {
			value, offered := have[file]
			if guessed := strings.HasSuffix(file, "pids.max") && plan[path].Level == cgroups.LevelNode; !offered || guessed {
				continue
			}
			compared++
			if !cgroups.Equal(file, want, value) {
				t.Errorf("%s %s: planned %s, the kubelet's reads %s", path, file, want, value)
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(tree)) {
		c, planned := plan[path]
		if !ownCgroup.MatchString(path) || hashed.MatchString(path) {
			continue
		}
		if !planned {
			t.Errorf("the kubelet made %s, which is not planned", path)
			continue
		}
		for file, untouched := range kernelDefaults() {
			if value, offered := tree[path][file]; offered && value != untouched && c.Files[file] == "" {
				t.Errorf("%s %s: the kubelet's reads %s, nothing is planned", path, file, value)
			}
		}
	}
	if compared < 10 {
		t.Errorf("only %d files compared", compared)
	}
}
