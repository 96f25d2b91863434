package cli

import "github.com/spf13/cobra"

// topics are help pages without a command: kqos help exit-codes.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{
			Use:   "exit-codes",
			Short: "What the exit codes mean",
			Long: `Every command ends with one of the exit codes below. 'apply', also with
--dry-run, ends with 0 when done and 2 when any operation failed; 'diff' is the
one that ends with 1 when something differs. Bad flags are always 2. With
several inputs all good ones are reported, then all errors, and the code is 2.`,
		},
		{
			Use:   "formats",
			Short: "What -o prints",
			Long: `-o table           columns for people (the default)
-o wide            the same with all columns
-o csv             all columns, comma separated (classify, allocatable, inspect)
-o name            one name a line
-o json, yaml      the whole result: one object with apiVersion and kind
-o kyaml           the same as KYAML
-o jsonpath={.items[*].qosClass}
-o go-template='{{range .items}}{{.name}}{{"\n"}}{{end}}'
-o custom-columns=NAME:.name,CLASS:.qosClass
-o jsonpath-file=FILE, go-template-file=FILE, custom-columns-file=FILE

Fields of the object are added, never renamed. Quantities are Kubernetes
quantities; in Machine and Simulation memory is a number of bytes.`,
		},
	}
}
