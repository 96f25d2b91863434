package cli

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/spf13/cobra"
)

// app is what every command gets: the surroundings and where messages go.
type app struct {
	System
	log *slog.Logger
	// noticed is the last notice.
	noticed string
	// writes tells each write of a command that runs on, whatever -v says.
	writes *slog.Logger
	color  string
	// unpacked is the folder of a --host-root that is an archive; removed at the
	// end.
	unpacked string
	// holding is locked while an interrupt may not end the command; see hold.
	holding sync.Mutex
}

// logger is usable before flags are parsed.
func (a *app) logger() *slog.Logger {
	if a.log == nil {
		a.log, _ = newLogger(a.Err, "text", 0)
	}
	return a.log
}

const exitTable = `
Exit codes:
  0    done, and nothing found
  1    done, and found what the command looks for
  2    could not do it: bad flags, bad input, no permission, I/O
  130  interrupted; 143 when told to terminate
`

func newRoot(a *app) *cobra.Command {
	verbosity, quiet := 0, false
	var logFormat string
	root := &cobra.Command{
		Use: "kqos",
		// A plugin of kubectl is called, and shows itself, as a command of it.
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: or(a.Name, "kqos")},
		Short:       "What will the kubelet do with this pod on this node?",
		Long: `kqos answers what the kubelet will do with a pod on a node, what it did, and
whether the node is really in that state: offline, with the numbers of the
kubelet of Kubernetes v1.37 and the reason for each.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			// An interrupt finds messages set up and the archive unpacked, or neither.
			defer a.hold()()
			if quiet {
				verbosity = -1
			}
			var err error
			if a.log, err = newLogger(a.Err, logFormat, verbosity); err != nil {
				return err
			}
			if err := checkWord("color", a.color, "auto", "always", "never"); err != nil {
				return err
			}
			if err := a.unpackHost(cmd); err != nil {
				return err
			}
			// Unpacking changes what is written to.
			if a.log, err = newLogger(a.Err, logFormat, verbosity); err != nil {
				return err
			}
			a.writes, err = newLogger(a.Err, logFormat, telling(verbosity))
			return err
		},
		RunE: groups,
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	flags := root.PersistentFlags()
	flags.CountVarP(&verbosity, "verbose", "v", "more messages on stderr; repeat for still more")
	flags.BoolVarP(&quiet, "quiet", "q", false, "only errors on stderr")
	flags.StringVar(&logFormat, "log-format", "text", "messages on stderr as text or json")
	flags.StringVar(&a.color, "color", "auto", "colour: auto (on a terminal), always, never")
	completeWith(root, "log-format", "text", "json")
	completeWith(root, "color", "auto", "always", "never")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w%s; see '%s --help'", err, nearestFlag(cmd, err), cmd.CommandPath())
	})
	root.SetHelpTemplate(helpTemplate())
	for _, cmd := range commands(a) {
		completeFolders(cmd)
		root.AddCommand(cmd)
	}
	root.AddCommand(topics()...)
	root.SetHelpCommand(newHelp())
	addCompletion(root)
	return root
}

// telling is the verbosity at which a command that runs on tells what it writes.
func telling(verbosity int) int {
	if verbosity < 0 {
		return verbosity
	}
	return max(verbosity, 1)
}

// commands lists the commands in the order in which help shows them.
func commands(a *app) []*cobra.Command {
	return []*cobra.Command{
		newClassify(a),
		newApply(a),
		newDiff(a),
		newTopology(a),
		newAllocatable(a),
		newSimulate(a),
		newInspect(a),
		newDoctor(a),
		newCollect(a),
		newFleet(a),
		newVersion(a),
	}
}

// helpTemplate is cobra's, with the exit codes at its end.
func helpTemplate() string {
	return `{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}
{{end}}{{if or .Runnable .HasSubCommands}}
{{.UsageString}}{{end}}` + exitTable
}

// groups runs a command that only holds others.
func groups(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return unknownCommand(cmd, args[0])
}

// noCommand refuses arguments of a command that takes none but the names of
// those below it.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return unknownCommand(cmd, args[0])
}

func completeWith(cmd *cobra.Command, flag string, values ...string) {
	// The only error is an unknown flag, which the next line of the same
	// function just defined.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}
