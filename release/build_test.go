package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestBuild builds a small program: what is released is the commit, with the version
// of its tag, and not what lies around it.
func TestBuild(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git, of whose repositories releases are made")
	}
	root, work := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.com", "-C", root}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-11-29T12:00:01Z", "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	write("go.mod", "module example.com/program\n\ngo 1.26\n")
	write("main.go", "package main\n\nfunc main() {}\n")
	git("init", "--quiet")
	git("add", ".")
	git("commit", "--quiet", "-m", "first")
	git("tag", "v1.4.0")
	write("main.go", "no Go\n")

	r := &release{source: filepath.Join(work, "source")}
	if err := checkout(root, r.source); err != nil {
		t.Fatal(err)
	}
	if err := r.build(".", work, []string{"linux/arm64", "darwin/arm64"}); err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2026, 11, 29, 12, 0, 1, 0, time.UTC); r.version != "1.4.0" || !r.made.Equal(want) {
		t.Errorf("version %s of %s, want 1.4.0 of %s", r.version, r.made, want)
	}
	for i, want := range []string{"linux/arm64", "darwin/arm64"} {
		b := r.binaries[i]
		settings := map[string]string{}
		for _, s := range b.info.Settings {
			settings[s.Key] = s.Value
		}
		if got := settings["GOOS"] + "/" + settings["GOARCH"]; b.String() != want || got != want || settings["CGO_ENABLED"] != "0" {
			t.Errorf("%s is of %s with CGO_ENABLED=%s, want %s", b, got, settings["CGO_ENABLED"], want)
		}
	}
	if err := checkout(work, filepath.Join(work, "none")); err == nil {
		t.Error("a folder without a commit was released")
	}
}
