package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/render"
)

type version struct {
	typeMeta
	KQOS       string `json:"kqos"`
	Go         string `json:"go"`
	Platform   string `json:"platform"`
	Kubernetes string `json:"kubernetes"`
}

func newVersion(a *app) *cobra.Command {
	var out outputFlags
	cmd := &cobra.Command{
		Use:               "version",
		Short:             "Versions of kqos, of Go, and of the kubelet it follows",
		Example:           "  kqos version\n  kqos version -o json",
		ValidArgsFunction: cobra.NoFileCompletions,
		Args:              cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return out.print(a, versionView(buildVersion()))
		},
	}
	out.add(cmd)
	return cmd
}

func versionView(v version) view {
	return view{
		object: v,
		names:  []string{"kqos/" + v.KQOS},
		text: func(w io.Writer, _ render.Style) error {
			_, err := fmt.Fprintf(w, "kqos %s (%s, %s), follows the kubelet of Kubernetes %s\n",
				v.KQOS, v.Go, v.Platform, v.Kubernetes)
			return err
		},
	}
}

// buildVersion reads what the Go linker recorded: the module version of
// `go install`, else the commit.
func buildVersion() version {
	v := version{
		typeMeta: kind("Version"), KQOS: "devel", Go: runtime.Version(),
		Platform:   runtime.GOOS + "/" + runtime.GOARCH,
		Kubernetes: kubelet.FollowedVersion,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.KQOS = info.Main.Version
	}
	return v
}
