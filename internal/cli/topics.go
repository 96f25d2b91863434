package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// newHelp is cobra's help command, which also completes topics and refuses what
// there is no help on.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND|TOPIC]", Short: "Help about any command or topic",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			var offers []string
			if about, _ := helpAbout(cmd.Root(), args); about != nil {
				for _, child := range shownBelow(about) {
					if strings.HasPrefix(child.Name(), typed) {
						offers = append(offers, cobra.CompletionWithDesc(child.Name(), child.Short))
					}
				}
			}
			return offers, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, err := helpAbout(cmd.Root(), args)
			if err != nil {
				return err
			}
			about.InitDefaultHelpFlag() // help shows it, and only a command that ran has it
			return about.Help()
		},
	}
}

// helpAbout is the command or topic that words name, one below the other.
func helpAbout(cmd *cobra.Command, words []string) (*cobra.Command, error) {
	for _, word := range words {
		all := shownBelow(cmd)
		i := slices.IndexFunc(all, func(child *cobra.Command) bool { return child.Name() == word })
		if i < 0 {
			return nil, unknownCommand(cmd, word)
		}
		cmd = all[i]
	}
	return cmd, nil
}

// shownBelow are the commands and topics below cmd that help lists.
func shownBelow(cmd *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(cmd.Commands()), func(child *cobra.Command) bool {
		return !child.IsAvailableCommand() && !child.IsAdditionalHelpTopicCommand()
	})
}

// topics are help pages without a command: kqos help exit-codes.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{
			Use:   "exit-codes",
			Short: "What the exit codes mean",
			Long: `Every command ends with one of the exit codes below. 1 means, for

  allocatable  with --validate, that the kubelet would refuse the configuration;
               with --against, that anything differs
  classify     with --expect, that a pod is of a lower class
  diff         that anything differs
  doctor       that a check fails
  fleet        with --exit-code, that anything was found
  inspect      with --exit-code, that anything drifted
  simulate     that a pod is refused; with --compare, under the policies configured

and never ends apply, collect, topology or version: apply, also with --dry-run,
ends with 0 when done and 2 when any operation failed or was withheld.

Bad flags are always 2. With several inputs all good ones are reported, then all
errors, and the code is 2. Nothing ever prompts.`,
		},
		{
			Use:   "node",
			Short: "Where the node's configuration is found when none is named",
			Long: `Without --config and --topology a command is about this host, or the one below
--host-root (a folder, or an archive of 'kqos collect'). The configuration is
then that of its kubelet: the files and flags on the command line of the one that
runs, else of the one that kubelet.service would start with its drop-ins and
environment files, else what a distribution keeps at its place:

  kubeadm, kind, minikube  /var/lib/kubelet/config.yaml
  k3s, RKE2                /var/lib/rancher/{k3s,rke2}/agent/etc/kubelet.conf.d, and the
                           kubelet-arg of /etc/rancher/{k3s,rke2}/config.yaml and its unit
  k0s                      /var/lib/k0s/kubelet-config.yaml
  MicroK8s                 /var/snap/microk8s/current/args/kubelet
  Canonical Kubernetes     /var/snap/k8s/common/args/kubelet
  EKS                      /etc/kubernetes/kubelet/config.json and config.json.d, or
                           kubelet-config.json
  Bottlerocket             /etc/kubernetes/kubelet/config
  Talos                    /etc/kubernetes/kubelet.yaml
  OpenShift                /etc/kubernetes/kubelet.conf and /etc/openshift/kubelet.conf.d
  GKE                      /home/kubernetes/kubelet-config.yaml
  AKS                      /etc/default/kubeletconfig.json

Flags of the kubelet win over its files, as they do there. What was used stands
on stderr; -q leaves that out. --config names another configuration, --config=
(empty) takes the kubelet's defaults. With --topology, or a Machine among the
inputs, nothing is taken from this host.`,
		},
		{
			Use:   "formats",
			Short: "What -o prints",
			Long: `-o table      columns for people (the default)
-o wide       the same with all columns
-o name       one name a line

of some commands only:
-o csv        all columns, comma separated: allocatable, classify, fleet, inspect
-o nrt        a NodeResourceTopology object: topology
-o short      one line for node-problem-detector: doctor
-o svg        a picture: simulate, topology
-o synthetic  the description that makes the machine again: topology
-o tree       drawn as a tree: inspect, topology

the whole result, one object with apiVersion and kind:
-o json
-o yaml
-o kyaml      the YAML that kubectl prints so, with braces and quotes
-o jsonpath='{.items[*].qosClass}'
-o jsonpath-as-json='{.items[*].qosClass}'
-o go-template='{{range .items}}{{.name}}{{"\n"}}{{end}}'
-o custom-columns=NAME:.name,CLASS:.qosClass
-o jsonpath-file=FILE
-o go-template-file=FILE
-o custom-columns-file=FILE

--no-headers leaves the header line of tables out. Fields of the object are added,
never renamed. Quantities are Kubernetes quantities; in Machine and Simulation
memory is a number of bytes.`,
		},
	}
}
