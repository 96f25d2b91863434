// Package internal holds the test that guards who may import whom.
package internal

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/kqos/kqos/"

// layers says which packages of this module each package may import. A package
// that is not listed may import nothing of it.
func layers() map[string][]string {
	placement := []string{
		"internal/admission", "internal/qos", "internal/allocatable", "internal/kubelet", "internal/machine", "internal/quantity",
	}
	manager := append([]string{"internal/simulate/topologymanager"}, placement...)
	return map[string][]string{
		"cmd/kqos": {"internal/cli"},
		"internal/cli": {
			"internal/manifest", "internal/admission", "internal/kubelet", "internal/machine", "internal/qos",
			"internal/allocatable", "internal/simulate", "internal/simulate/cpumanager", "internal/cgroups",
			"internal/simulate/topologymanager", "internal/simulate/memorymanager", "internal/simulate/devicemanager",
			"internal/cgroups/driver", "internal/apply", "internal/inspect", "internal/inspect/collect", "internal/inspect/doctor", "internal/render", "internal/launch", "internal/nodeapi",
			"internal/archive", "internal/input", "internal/parallel", "internal/quantity", "internal/fleet",
		},
		"internal/fleet":                    append([]string{"internal/simulate", "internal/parallel"}, placement...),
		"internal/decode":                   {"internal/quantity"},
		"internal/manifest":                 {"internal/decode", "internal/input", "internal/parallel", "internal/quantity"},
		"internal/admission":                {"internal/kubelet", "internal/quantity"},
		"internal/qos":                      {"internal/kubelet", "internal/quantity"},
		"internal/allocatable":              {"internal/quantity", "internal/kubelet", "internal/machine"},
		"internal/simulate":                 append([]string{"internal/decode", "internal/parallel", "internal/simulate/cpumanager", "internal/simulate/memorymanager", "internal/simulate/devicemanager"}, manager...),
		"internal/simulate/cpumanager":      manager,
		"internal/simulate/memorymanager":   manager,
		"internal/simulate/devicemanager":   manager,
		"internal/simulate/topologymanager": placement,
		"internal/cgroups":                  {"internal/quantity", "internal/qos", "internal/allocatable", "internal/kubelet", "internal/machine"},
		"internal/cgroups/driver":           {"internal/cgroups", "internal/input"},
		"internal/apply":                    {"internal/cgroups"},
		"internal/kubelet":                  {"internal/input", "internal/quantity"},
		"internal/machine":                  {"internal/quantity", "internal/archive", "internal/input"},
		"internal/inspect":                  {"internal/cgroups", "internal/kubelet", "internal/machine", "internal/nodeapi", "internal/qos", "internal/quantity"},
		"internal/launch":                   {"internal/input", "internal/nodeapi"},
		"internal/inspect/collect":          {"internal/cgroups", "internal/kubelet", "internal/launch", "internal/nodeapi"},
		"internal/inspect/doctor": append([]string{
			"internal/cgroups", "internal/input", "internal/inspect", "internal/nodeapi", "internal/simulate", "internal/simulate/topologymanager",
		}, placement...),
		"internal/render":  {"internal/input", "internal/machine", "internal/parallel", "internal/quantity"},
		"internal/nodeapi": {"internal/input"},
	}
}

// impure packages may not be imported by the pure ones.
func impure() []string {
	return []string{"os", "os/exec", "net", "net/http", "syscall", "golang.org/x/sys/unix"}
}

func pure(pkg string) bool {
	return strings.HasPrefix(pkg, "internal/simulate") ||
		slices.Contains([]string{"internal/qos", "internal/admission", "internal/allocatable", "internal/cgroups", "internal/fleet"}, pkg)
}

func TestLayers(t *testing.T) {
	files := 0
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{"conformance", "release", "test", "testdata", "tools"}, d.Name()) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		files++
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := path.Dir(strings.TrimPrefix(filepath.ToSlash(file), "../"))
		for _, i := range parsed.Imports {
			checkImport(t, file, pkg, i.Path.Value)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Fatalf("only %d files seen: the walk is broken", files)
	}
}

func checkImport(t *testing.T, file, pkg, quoted string) {
	t.Helper()
	imported, err := strconv.Unquote(quoted)
	if err != nil {
		t.Fatal(err)
	}
	if own, ok := strings.CutPrefix(imported, module); ok && !slices.Contains(layers()[pkg], own) {
		t.Errorf("%s: %s may not import %s (see layers)", file, pkg, own)
	}
	if pure(pkg) && slices.Contains(impure(), imported) {
		t.Errorf("%s: %s is pure and may not import %s", file, pkg, imported)
	}
	if strings.HasPrefix(imported, "k8s.io/kubernetes") {
		t.Errorf("%s: the product must not link k8s.io/kubernetes", file)
	}
	if strings.HasPrefix(imported, "k8s.io/client-go") && pkg != "internal/render" {
		t.Errorf("%s: only render may import client-go, and of it only util/jsonpath", file)
	}
}
