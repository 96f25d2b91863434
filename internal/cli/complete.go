package cli

import (
	"path"
	"strings"

	"github.com/spf13/cobra"

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

// completeGates completes --feature-gates. The gates are read when somebody asks: no
// command needs all of them.
func completeGates(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("feature-gates", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return continueList(typed, gateValues())
	})
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
func completeCgroup(root, typed string) ([]string, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	h, err := inspect.Open(root)
	if err != nil {
		return nil, directive
	}
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
	return offers, directive
}
