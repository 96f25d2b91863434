// Package start has the kubelet's command load, default and validate its
// configuration.
//
//	answer, err := start.Judge(start.Options{File: "kubelet.yaml"}, 2)
package start

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	_ "unsafe" // for go:linkname

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	_ "k8s.io/component-base/logs/json/register" // as the kubelet's main package does
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	_ "k8s.io/kubernetes/cmd/kubelet/app" // the functions below are its own
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	conversion "k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/validation"

	"github.com/kqos/kqos/conformance/older"
	"github.com/kqos/kqos/conformance/oracle/gates"
)

//go:linkname loadConfigFile k8s.io/kubernetes/cmd/kubelet/app.loadConfigFile
func loadConfigFile(ctx context.Context, name string) (*kubeletconfig.KubeletConfiguration, error)

//go:linkname kubeletConfigFlagPrecedence k8s.io/kubernetes/cmd/kubelet/app.kubeletConfigFlagPrecedence
func kubeletConfigFlagPrecedence(c *kubeletconfig.KubeletConfiguration, args []string) error

// Options are the flags of a kubelet that bear on its configuration.
type Options struct {
	File, Dir string
	Gates     map[string]bool
	// Flags are more of the command line.
	Flags []string
}

// PanicError is the kubelet ending in a stack trace.
type PanicError struct{ Value any }

func (e *PanicError) Error() string { return fmt.Sprint(e.Value) }

// Load has the kubelet read its configuration as its command does, up to
// validation, on fresh gates. Errors lack the command's own prefix, "failed to
// load kubelet config file, path: …" or "failed to merge kubelet configs: ".
func Load(o Options) (c *kubeletconfig.KubeletConfiguration, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{r}
		}
	}()
	set := gates.Reset()
	args := append(flags(o.Gates), o.Flags...)
	if c, err = parse(args); err != nil {
		return nil, err
	}
	if err := set.SetFromMap(c.FeatureGates); err != nil {
		return nil, fmt.Errorf("failed to set feature gates from initial flags-based config: %w", err)
	}
	if o.File != "" {
		if c, err = loadConfigFile(context.Background(), o.File); err != nil {
			return nil, err
		}
	}
	if o.Dir != "" {
		if err := merge(c, o.Dir); err != nil {
			return nil, err
		}
	}
	if o.File == "" && o.Dir == "" {
		return c, nil
	}
	if err := kubeletConfigFlagPrecedence(c, args); err != nil {
		return nil, fmt.Errorf("failed to precedence kubeletConfigFlag: %w", err)
	}
	if err := set.SetFromMap(c.FeatureGates); err != nil {
		return nil, fmt.Errorf("failed to set feature gates from initial flags-based config: %w", err)
	}
	return c, nil
}

// Answer is what the kubelet makes of its configuration.
type Answer struct {
	Error    string                               `json:"error,omitempty"`
	Config   *kubeletv1beta1.KubeletConfiguration `json:"config,omitempty"`
	Gates    map[string]bool                      `json:"gates,omitempty"`
	Findings []string                             `json:"findings,omitempty"`
}

// Judge loads a configuration and validates it on a host with that version of
// cgroups.
func Judge(o Options, cgroupVersion int) (a Answer, err error) {
	if older.Asked() {
		return older.Try[Answer]("start.Judge", o, cgroupVersion)
	}
	c, err := Load(o)
	if err != nil {
		return Answer{Error: err.Error()}, nil
	}
	a.Gates = gates.Values()
	if a.Config, err = Versioned(c); err != nil {
		return a, err
	}
	a.Findings = texts(Validate(c, cgroupVersion))
	return a, nil
}

// texts are the single errors of an aggregate, in their order.
func texts(err error) []string {
	if err == nil {
		return nil
	}
	var all utilerrors.Aggregate
	if !errors.As(err, &all) {
		return []string{err.Error()}
	}
	var out []string
	for _, e := range utilerrors.Flatten(all).Errors() {
		out = append(out, e.Error())
	}
	Settle(out)
	return out
}

// Settle sorts those neighbours among findings whose order is chance: the
// kubelet ranges over a map for sysctls and for each node's reserved memory.
func Settle(findings []string) {
	for start := 0; start < len(findings); {
		end := start + 1
		for subject := chance(findings[start]); subject != "" && end < len(findings) && chance(findings[end]) == subject; {
			end++
		}
		slices.Sort(findings[start:end])
		start = end
	}
}

// chance is the map that the finding comes from, or "".
func chance(finding string) string {
	if strings.Contains(finding, "defaultPodSysctls") {
		return "defaultPodSysctls"
	}
	if _, rest, ok := strings.Cut(finding, "for NUMA node "); ok {
		return "NUMA node " + rest[:strings.IndexAny(rest+" ", " ")]
	}
	return ""
}

// parse is the command's first look at its line, into the defaults of flags.
func parse(args []string) (*kubeletconfig.KubeletConfiguration, error) {
	c, err := options.NewKubeletConfiguration()
	if err != nil {
		return nil, err
	}
	line := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	line.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	line.SetOutput(io.Discard)
	options.NewKubeletFlags().AddFlags(line)
	options.AddKubeletConfigFlags(line, c)
	options.AddGlobalFlags(line)
	if err := line.Parse(args); err != nil {
		return nil, fmt.Errorf("failed to parse kubelet flag: %w", err)
	}
	return c, nil
}

func flags(gates map[string]bool) []string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		pairs = append(pairs, fmt.Sprintf("%s=%t", name, gates[name]))
	}
	if pairs == nil {
		return nil
	}
	return []string{"--feature-gates=" + strings.Join(pairs, ",")}
}

// Versioned is the configuration in the version that its file has.
func Versioned(c *kubeletconfig.KubeletConfiguration) (*kubeletv1beta1.KubeletConfiguration, error) {
	out := &kubeletv1beta1.KubeletConfiguration{}
	return out, conversion.Convert_config_KubeletConfiguration_To_v1beta1_KubeletConfiguration(c, out, nil)
}

// Normal is a configuration of the file's version with the empty values that
// the kubelet's own conversion gives it: some absent pointers become zero.
func Normal(c *kubeletv1beta1.KubeletConfiguration) (*kubeletv1beta1.KubeletConfiguration, error) {
	internal := &kubeletconfig.KubeletConfiguration{}
	if err := conversion.Convert_v1beta1_KubeletConfiguration_To_config_KubeletConfiguration(c, internal, nil); err != nil {
		return nil, err
	}
	return Versioned(internal)
}

// Validate is what the kubelet refuses of what Load returned, on a host with
// that version of cgroups. The command checks logging before all else and ends
// with "initialize logging: " and the same texts that the validation has.
func Validate(c *kubeletconfig.KubeletConfiguration, cgroupVersion int) error {
	release()
	gates.SetCgroupVersion(cgroupVersion)
	return validation.ValidateKubeletConfiguration(c, utilfeature.DefaultFeatureGate)
}

// Write puts the text of a configuration into a file of dir.
func Write(dir, name string, data []byte) (string, error) {
	path := dir + "/" + name
	return path, os.WriteFile(path, data, 0o600)
}
