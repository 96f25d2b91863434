package kubelet

import (
	"fmt"
	"maps"
	"path/filepath"

	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"

	"github.com/kqos/kqos/internal/input"
)

// LoadOptions say what a kubelet would be started with.
type LoadOptions struct {
	// File is the path of --config; empty for none.
	File string
	// Data is the content of File where it was read before, from stdin for one.
	Data []byte
	// Dir is the folder of --config-dir; empty for none.
	Dir string
	// Gates are those of --feature-gates. They win over file and drop-ins.
	Gates map[string]bool
	// Flags are the command line of a kubelet, without its name. They win over
	// file and drop-ins; Gates win over them.
	Flags []string
	// Minor is the version of the kubelet; 0 means Latest.
	Minor Minor
}

// Load reads a configuration as the kubelet does: the file, strictly and then
// leniently; the default eviction thresholds if it names none; the drop-ins,
// merged into what is then already defaulted; the flags. It also takes the
// answer of /configz and a configuration that stands among other documents.
// An error is a *LoadError.
//
// kubelet v1.37: cmd/kubelet/app/server.go NewKubeletCommand.
func Load(o LoadOptions) (*Config, error) {
	o, err := o.withFlags()
	if err != nil {
		return nil, err
	}
	flags, err := DefaultGates(o.Minor).With(o.Gates)
	if err != nil {
		return nil, &LoadError{Field: "featureGates", Err: fmt.Errorf("failed to set feature gates from initial flags-based config: %w", err)}
	}
	c := &Config{Gates: flags, Source: o.File, Written: map[string]bool{}}
	if o.File == "" {
		// The command makes its defaults before it looks at any gate of its flags;
		// no gate is named yet, so nothing is refused.
		// kubelet v1.37: cmd/kubelet/app/server.go NewKubeletCommand.
		_ = setDefaults(&c.KubeletConfiguration, DefaultGates(o.Minor))
		setFlagDefaults(&c.KubeletConfiguration)
	} else if err := c.loadFile(o); err != nil {
		return nil, err
	}
	if o.Dir != "" {
		if err := c.mergeDir(o.Dir); err != nil {
			return nil, err
		}
		if c.Source == "" {
			c.Source = o.Dir
		}
	}
	c.forgetSplitStreams()
	c.forgetNewFields()
	if err := c.applyFlags(o.Flags); err != nil {
		return nil, err
	}
	return c, c.applyGates(o.Gates)
}

// forgetSplitStreams takes back what file and drop-ins say of splitStream: the
// kubelet registers its flags over the loaded configuration, and two of them set
// their own default, false.
//
// kubelet v1.37: component-base/logs/api/v1 addFlags, called by
// cmd/kubelet/app/server.go kubeletConfigFlagPrecedence.
func (c *Config) forgetSplitStreams() {
	forget := func(format string, split *bool) {
		if *split {
			c.Warnings = append(c.Warnings, fmt.Sprintf("logging.options.%s.splitStream: the kubelet loses the value, its flag's default false wins", format))
		}
		*split = false
	}
	forget("text", &c.Logging.Options.Text.SplitStream)
	forget("json", &c.Logging.Options.JSON.SplitStream)
}

// applyGates lets the gates of the command line win over those of the file.
func (c *Config) applyGates(flags map[string]bool) error {
	merged := maps.Clone(c.FeatureGates)
	if merged == nil {
		merged = map[string]bool{}
	}
	maps.Copy(merged, flags)
	gates, err := c.Gates.With(merged)
	if err != nil {
		return &LoadError{Field: "featureGates", Err: fmt.Errorf("failed to set feature gates from initial flags-based config: %w", err)}
	}
	c.FeatureGates, c.Gates = merged, gates
	return nil
}

// loadFile reads the main file.
func (c *Config) loadFile(o LoadOptions) error {
	fail := func(err error) error {
		return &LoadError{Err: fmt.Errorf("failed to load Kubelet config file %s, error %w", o.File, err)}
	}
	data := o.Data
	path, err := filepath.Abs(o.File)
	if err != nil {
		return fail(err)
	}
	if data == nil {
		if data, err = input.File(path, input.Config); err != nil {
			return fail(fmt.Errorf("failed to read kubelet config file %q, error: %w", path, err))
		}
	}
	if len(data) == 0 {
		return fail(fmt.Errorf("kubelet config file %q was empty", path))
	}
	doc, err := findDocument(data)
	if err != nil {
		older, unread := withoutNewFields(data, err, c.Gates.minor())
		if older == nil {
			return fail(err)
		}
		if doc, err = findDocument(older); err != nil {
			return fail(err)
		}
		for _, name := range unread {
			doc.written[name] = true
		}
	}
	if doc.refused != nil {
		c.Refused = append(c.Refused, Finding{Stage: StageLoad, Message: fail(doc.refused).Error()})
	}
	c.Warnings = append(c.Warnings, doc.warnings...)
	c.KubeletConfiguration = *doc.config
	c.Written = doc.written
	if err := setDefaults(&c.KubeletConfiguration, c.Gates); err != nil {
		return &LoadError{Field: "featureGates", Err: err}
	}
	resolvePaths(&c.KubeletConfiguration, filepath.Dir(path))
	if !doc.effective {
		c.setEvictionDefaults()
	}
	return nil
}

// setEvictionDefaults sets the default thresholds where the file has none, and
// those that it leaves out where it asks for that. It is done once, before the
// drop-ins.
//
// kubelet v1.37: cmd/kubelet/app/server.go loadConfigFile.
func (c *Config) setEvictionDefaults() {
	switch {
	case c.EvictionHard == nil:
		c.EvictionHard = DefaultEvictionHard()
	case *c.MergeDefaultEvictionSettings:
		for signal, value := range DefaultEvictionHard() {
			if _, ok := c.EvictionHard[signal]; !ok {
				c.EvictionHard[signal] = value
			}
		}
	}
}

// resolvePaths makes the paths of the main file absolute. Those of drop-ins
// stay as they are.
//
// kubelet v1.37: pkg/kubelet/apis/config/helpers.go KubeletConfigurationPathRefs.
func resolvePaths(c *kubeletv1beta1.KubeletConfiguration, root string) {
	for _, path := range []*string{
		&c.StaticPodPath, &c.Authentication.X509.ClientCAFile, &c.TLSCertFile, &c.TLSPrivateKeyFile,
		c.ResolverConfig, &c.VolumePluginDir, &c.PodLogsDir,
	} {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(root, *path)
		}
	}
}
