package kubelet

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"

	"github.com/kqos/kqos/internal/input"
)

// mergeDir merges the drop-ins of a folder into the configuration: *.conf in
// lexical order of their paths, subfolders included, each as a JSON merge patch
// onto the JSON of what is already defaulted. That JSON leaves empty lists and
// maps out, so an empty enforceNodeAllocatable of the main file becomes the
// default again, and an empty evictionHard no thresholds.
//
// kubelet v1.37: cmd/kubelet/app/server.go mergeKubeletConfigurations.
func (c *Config) mergeDir(dir string) error {
	merged, err := json.Marshal(&c.KubeletConfiguration)
	if err != nil {
		return &LoadError{Err: fmt.Errorf("failed to marshal base config: %w", err)}
	}
	if c.EnforceNodeAllocatable != nil && len(c.EnforceNodeAllocatable) == 0 {
		c.Warnings = append(c.Warnings, "enforceNodeAllocatable: [] of the main file becomes [pods]: the kubelet loses an empty list when it merges drop-ins")
	}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return nil
		case filepath.Ext(entry.Name()) != ".conf":
			c.Warnings = append(c.Warnings, fmt.Sprintf("Skipped file in drop-in directory (does not have .conf extension): %s", path))
			return nil
		}
		patch, err := readDropin(path)
		if err != nil {
			return err
		}
		if merged, err = mergeDropin(merged, patch); err != nil {
			return err
		}
		c.Warnings = append(c.Warnings, dropinWarnings(path, patch)...)
		return topFields(c.Written, patch)
	})
	if err != nil {
		return &LoadError{Err: fmt.Errorf("failed to walk through kubelet dropin directory %q: %w", dir, err)}
	}
	return c.setMerged(merged)
}

// setMerged takes the merged JSON as the configuration and sets defaults again.
func (c *Config) setMerged(merged []byte) error {
	var next kubeletv1beta1.KubeletConfiguration
	if err := checkQuantities(merged); err != nil {
		return &LoadError{Err: fmt.Errorf("failed to unmarshal merged JSON into kubelet configuration: %w", err)}
	}
	err := json.Unmarshal(merged, &next)
	if err != nil {
		if older, _ := withoutNewFields(merged, err, c.Gates.minor()); older != nil {
			next = kubeletv1beta1.KubeletConfiguration{}
			err = json.Unmarshal(older, &next)
		}
	}
	if err != nil {
		return &LoadError{Err: fmt.Errorf("failed to unmarshal merged JSON into kubelet configuration: %w", err)}
	}
	if err := setDefaults(&next, c.Gates); err != nil {
		return &LoadError{Field: "featureGates", Err: err}
	}
	c.KubeletConfiguration = next
	return nil
}

// mergeDropin applies a drop-in: maps merge by key, lists are replaced, null
// deletes.
func mergeDropin(config, patch []byte) ([]byte, error) {
	merged, err := jsonpatch.MergePatch(config, patch)
	if err != nil {
		return nil, fmt.Errorf("failed to merge drop-in and current config: %w", err)
	}
	return merged, nil
}

// dropinWarnings tells what of a drop-in does not do what it seems to: the
// default thresholds are set once, before the drop-ins.
func dropinWarnings(path string, patch []byte) []string {
	var fields map[string]json.RawMessage
	// What is no object, topFields refuses.
	_ = json.Unmarshal(patch, &fields)
	var w []string
	if string(fields["mergeDefaultEvictionSettings"]) == "true" {
		w = append(w, path+": mergeDefaultEvictionSettings has no effect in a drop-in; set it in the main file")
	}
	if string(fields["evictionHard"]) == "null" {
		w = append(w, path+": evictionHard: null leaves no threshold, not the default ones")
	}
	return w
}

func readDropin(path string) ([]byte, error) {
	fail := func(format string, a ...any) error {
		return fmt.Errorf("failed to load kubelet dropin file, path: %s, "+format, append([]any{path}, a...)...)
	}
	data, err := input.File(path, input.Config)
	if err != nil {
		return nil, fail("error: failed to read drop-in kubelet config file %q, error: %w", path, err)
	}
	if len(data) == 0 {
		return nil, fail("error: kubelet config file %q was empty", path)
	}
	patch, gvk, err := decodeDropin(data)
	switch {
	case err != nil:
		return nil, fail("error: %w", err)
	case gvk == nil || gvk.Empty():
		return nil, fail("no apiVersion/kind")
	case *gvk != configKind():
		return nil, fail("unknown apiVersion/kind: %v", gvk)
	}
	return patch, nil
}
