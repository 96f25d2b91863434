package cli

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// -update rewrites the expected output inside the scripts.
var update = flag.Bool("update", false, "rewrite cmp files of testdata/script")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"kqos": func() { os.Exit(Main(os.Args[1:], Host())) },
		// The name by which kubectl finds it.
		"kubectl-kqos": func() { os.Exit(Main(os.Args[1:], Host())) },
	})
}

// TestScript runs each testdata/script/*.txtar as a user would type it.
// $TESTDATA is the repository's testdata folder.
func TestScript(t *testing.T) {
	testdata, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": code, "cgroot": cgroot, "cgwrite": cgwrite, "cgmkdir": cgmkdir, "cgrmdir": cgrmdir, "cglock": cglock,
		},
		Condition: condition,
		Setup: func(e *testscript.Env) error {
			e.Setenv("TESTDATA", testdata)
			return nil
		},
	})
}

// code N PROGRAM ARGS… runs the program and wants exactly exit code N.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
