package cli

import "github.com/spf13/cobra"

// Command is the tree of commands, to make man pages and completions of; Main runs
// them.
func Command() *cobra.Command { return newRoot(&app{}) }
