package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/kqos/kqos/internal/kubelet"
)

type systemdRuntime struct {
	runtimev1.UnimplementedRuntimeServiceServer
}

func (systemdRuntime) RuntimeConfig(context.Context, *runtimev1.RuntimeConfigRequest) (*runtimev1.RuntimeConfigResponse, error) {
	return &runtimev1.RuntimeConfigResponse{Linux: &runtimev1.LinuxRuntimeConfiguration{CgroupDriver: runtimev1.CgroupDriver_SYSTEMD}}, nil
}

// listen serves the runtime on a socket below root until the test ends.
func listen(t *testing.T, root, socket string) {
	t.Helper()
	path := filepath.Join(root, socket)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	runtimev1.RegisterRuntimeServiceServer(s, systemdRuntime{})
	go s.Serve(l) //nolint:errcheck // Stop ends it
	t.Cleanup(s.Stop)
}

// TestDriverOfCaseB62 follows the runtime where it answers, with a warning, and
// the configuration where none does.
func TestDriverOfCaseB62(t *testing.T) {
	const folder = "../../testdata/cases/B62-cgroup-driver-from-runtime/"
	var c struct {
		AlsoExpect struct {
			RuntimeSaysSystemd, RuntimeSilent struct {
				EffectiveDriver string
				Warning         bool
			}
		}
	}
	data, err := os.ReadFile(folder + "expected.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	config, err := kubelet.Load(kubelet.LoadOptions{File: folder + "kubelet.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := *config
	elsewhere.ContainerRuntimeEndpoint = "unix:///run/own.sock"
	elsewhere.Written = map[string]bool{"cgroupDriver": true, "containerRuntimeEndpoint": true}
	says, silent := c.AlsoExpect.RuntimeSaysSystemd, c.AlsoExpect.RuntimeSilent
	for _, tt := range []struct {
		name, socket string
		config       *kubelet.Config
		driver       string
		warning      bool
	}{
		{"at the usual socket", "run/crio/crio.sock", config, says.EffectiveDriver, says.Warning},
		{"at the socket of the configuration", "run/own.sock", &elsewhere, says.EffectiveDriver, says.Warning},
		{"silent", "", config, silent.EffectiveDriver, silent.Warning},
	} {
		root := t.TempDir()
		if tt.socket != "" {
			listen(t, root, tt.socket)
		}
		var messages bytes.Buffer
		a := &app{System: System{Err: &messages}}
		n := nodeFlags{driver: "auto", hostRoot: root}
		if got := n.chooseDriver(t.Context(), a, tt.config, false); got != tt.driver {
			t.Errorf("%s: driver %s, want %s", tt.name, got, tt.driver)
		}
		if told := strings.Contains(messages.String(), "the kubelet follows the runtime"); told != tt.warning {
			t.Errorf("%s: warned %v, want %v: %s", tt.name, told, tt.warning, &messages)
		}
	}
}
