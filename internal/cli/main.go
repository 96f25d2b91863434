package cli

// Main runs kqos with the arguments after its name and returns the exit code.
func Main(args []string, sys System) int {
	return 2
}
