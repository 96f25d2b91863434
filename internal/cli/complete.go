package cli

import (
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/inspect"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
)

// completeList completes a flag whose value is a list with commas: the word after
// the last comma, without those that stand before it.
func completeList(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return continueList(typed, values)
	})
}

// continueList offers the words that may follow in a list. Those that end with
// an equals sign want a value, so no blank comes after them.
func continueList(typed string, values []string) ([]string, cobra.ShellCompDirective) {
	before, directive := "", cobra.ShellCompDirectiveNoFileComp
	if i := strings.LastIndex(typed, ","); i >= 0 {
		before = typed[:i+1]
	}
	var offers []string
	for _, v := range values {
		name, _, _ := strings.Cut(v, "=")
		if strings.Contains(","+before, ","+name+"=") || strings.Contains(","+before, ","+name+",") {
			continue
		}
		if strings.HasSuffix(v, "=") {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		offers = append(offers, before+v)
	}
	return offers, directive
}

// completeGates completes --feature-gates. Gates are read when somebody asks: no
// command needs all of them.
func completeGates(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("feature-gates", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return continueList(typed, gateValues())
	})
}

// completeFolders has those flags offer folders alone that name one.
func completeFolders(cmd *cobra.Command) {
	for _, flag := range []string{"config-dir", "state-dir", "write-state", "configz", "topologies"} {
		if cmd.Flags().Lookup(flag) != nil {
			_ = cmd.MarkFlagDirname(flag)
		}
	}
}

// gateValues are the feature gates of the latest version that can be switched,
// each on and off.
func gateValues() []string {
	var values []string
	gates := kubelet.DefaultGates(kubelet.Latest)
	for _, name := range gates.Names() {
		values = append(values, name+"=true", name+"=false")
	}
	return values
}

// capacityValues are the resources that --capacity takes.
func capacityValues() []string {
	return []string{"cpu=", "memory=", "ephemeral-storage=", "pid=", "swap=", "hugepages-2Mi=", "hugepages-1Gi="}
}

// resourceNames are those of capacityValues.
func resourceNames() []string {
	var names []string
	for _, value := range capacityValues() {
		names = append(names, strings.TrimSuffix(value, "="))
	}
	return names
}

// addCompletion adds cobra's command that prints scripts for shells, which
// refuses an unknown one.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args, cmd.RunE, cmd.Example = cobra.ArbitraryArgs, groups, "  kqos completion bash > kqos.bash"
		}
	}
}

// completeTarget offers what inspect takes: the node's cgroups, and its pods by
// name and by UID.
func (a *app) completeTarget(cmd *cobra.Command, n *nodeFlags, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp
	if len(args) > 0 || a.unpackHost(cmd) != nil {
		return nil, none
	}
	h, err := inspect.Open(n.hostRoot)
	if err != nil {
		return nil, none
	}
	defer h.Close()
	offers := completeCgroup(h, typed)
	if len(offers) == 0 {
		return podsOf(h, inspect.HostOwners(n.hostRoot), typed), none
	}
	if typed == "" {
		offers = append(offers, podsOf(h, inspect.HostOwners(n.hostRoot), typed)...)
	}
	// What is below a cgroup may follow.
	return offers, none | cobra.ShellCompDirectiveNoSpace
}

// podsOf are the names and UIDs, begun by a word, of the pods that have cgroups.
func podsOf(h *inspect.Hierarchy, owners *inspect.Owners, typed string) []string {
	var offers []string
	for _, at := range h.Walk("/") {
		id := inspect.Identify(at)
		if id.Level != cgroups.LevelPod || id == inspect.Identify(path.Dir(at)) {
			continue
		}
		pod := owners.Pod(id.PodUID)
		if name := pod.Namespace + "/" + pod.Name; pod.Name != "" && strings.HasPrefix(name, typed) {
			offers = append(offers, name)
		}
		if strings.HasPrefix(id.PodUID, typed) {
			offers = append(offers, cobra.CompletionWithDesc(id.PodUID, pod.Name))
		}
	}
	return offers
}

// completeTopology offers descriptions of machines once one is begun, else files.
func completeTopology(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	const kind = machine.SyntheticPrefix
	if typed == "" || !strings.HasPrefix(kind, typed) && !strings.HasPrefix(typed, kind) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return []string{
		kind + "cores=8,memory=32Gi",
		kind + "sockets=2,numa=2,cores=64,threads=2,memory=512Gi",
		kind + "sockets=2,numa=8,llc=16,cores=128,threads=2,memory=1Ti",
	}, cobra.ShellCompDirectiveNoFileComp
}

// completeCgroup offers the paths right below the one that is typed so far.
func completeCgroup(h *inspect.Hierarchy, typed string) []string {
	// The first slash may be left out, and then no offer has it.
	slash := typed == "" || strings.HasPrefix(typed, "/")
	begun := "/" + strings.TrimPrefix(typed, "/")
	var offers []string
	for _, cgroup := range h.Children(path.Dir(begun)) {
		if !strings.HasPrefix(cgroup, begun) {
			continue
		}
		if !slash {
			cgroup = cgroup[1:]
		}
		offers = append(offers, cgroup)
	}
	return offers
}
