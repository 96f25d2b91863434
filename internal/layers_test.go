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

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/kqos/kqos/"

// layers says which packages of this module each package imports: no more, and
// none that it could do without. A package that is not listed imports nothing of it.
func layers() map[string][]string {
	return map[string][]string{
		"cmd/kqos": {"internal/cli"},
		"internal/cli": {
			"internal/admission", "internal/allocatable", "internal/apply", "internal/archive", "internal/cgroups",
			"internal/cgroups/driver", "internal/fleet", "internal/input", "internal/inspect", "internal/inspect/collect",
			"internal/inspect/doctor", "internal/kubelet", "internal/launch", "internal/machine", "internal/manifest",
			"internal/nodeapi", "internal/parallel", "internal/qos", "internal/quantity", "internal/render",
			"internal/simulate", "internal/simulate/cpumanager", "internal/simulate/topologymanager",
		},
		"internal/admission":       {"internal/kubelet", "internal/quantity"},
		"internal/allocatable":     {"internal/kubelet", "internal/machine", "internal/quantity"},
		"internal/apply":           {"internal/cgroups"},
		"internal/cgroups":         {"internal/allocatable", "internal/kubelet", "internal/qos", "internal/quantity"},
		"internal/cgroups/driver":  {"internal/cgroups", "internal/input"},
		"internal/decode":          {"internal/quantity"},
		"internal/fleet":           {"internal/allocatable", "internal/kubelet", "internal/machine", "internal/parallel", "internal/qos", "internal/quantity", "internal/simulate"},
		"internal/inspect":         {"internal/cgroups", "internal/machine", "internal/nodeapi", "internal/qos", "internal/quantity"},
		"internal/inspect/collect": {"internal/cgroups", "internal/kubelet", "internal/launch", "internal/nodeapi"},
		"internal/inspect/doctor": {
			"internal/allocatable", "internal/cgroups", "internal/input", "internal/inspect", "internal/kubelet",
			"internal/machine", "internal/nodeapi", "internal/quantity", "internal/simulate", "internal/simulate/topologymanager",
		},
		"internal/kubelet":  {"internal/input", "internal/quantity"},
		"internal/launch":   {"internal/input", "internal/nodeapi"},
		"internal/machine":  {"internal/archive", "internal/input", "internal/quantity"},
		"internal/manifest": {"internal/decode", "internal/input", "internal/parallel", "internal/quantity"},
		"internal/nodeapi":  {"internal/input"},
		"internal/qos":      {"internal/kubelet", "internal/quantity"},
		"internal/render":   {"internal/input", "internal/machine", "internal/parallel", "internal/quantity"},
		"internal/simulate": {
			"internal/admission", "internal/allocatable", "internal/decode", "internal/kubelet", "internal/machine",
			"internal/parallel", "internal/qos", "internal/quantity", "internal/simulate/cpumanager",
			"internal/simulate/devicemanager", "internal/simulate/memorymanager", "internal/simulate/topologymanager",
		},
		"internal/simulate/cpumanager":      {"internal/allocatable", "internal/kubelet", "internal/machine", "internal/qos", "internal/simulate/topologymanager"},
		"internal/simulate/devicemanager":   {"internal/kubelet", "internal/machine", "internal/qos", "internal/simulate/topologymanager"},
		"internal/simulate/memorymanager":   {"internal/allocatable", "internal/kubelet", "internal/machine", "internal/qos", "internal/quantity", "internal/simulate/topologymanager"},
		"internal/simulate/topologymanager": {"internal/kubelet", "internal/machine", "internal/qos"},
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
	found := map[string][]string{}
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
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := path.Dir(strings.TrimPrefix(filepath.ToSlash(file), "../"))
		for _, i := range parsed.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			checkForeign(t, file, pkg, imported)
			if own, ok := strings.CutPrefix(imported, module); ok && !slices.Contains(found[pkg], own) {
				found[pkg] = append(found[pkg], own)
				slices.Sort(found[pkg])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(layers(), found); diff != "" {
		t.Errorf("imports within the module (-layers +found):\n%s", diff)
	}
}

// checkForeign judges the import of what is not of this module.
func checkForeign(t *testing.T, file, pkg, imported string) {
	t.Helper()
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
