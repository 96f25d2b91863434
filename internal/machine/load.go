package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"sigs.k8s.io/yaml"
)

// maxInput bounds a file that describes a machine; the largest known are hwloc
// exports of a few MiB.
const maxInput = 64 << 20

// Load reads a machine from any source that --topology takes: "synthetic:…",
// or the path of a file or folder, whose kind is told by its content.
func Load(ctx context.Context, source string) (*Machine, error) {
	if strings.HasPrefix(source, SyntheticPrefix) {
		return ParseSynthetic(source)
	}
	info, err := os.Stat(source)
	if err != nil {
		return nil, fmt.Errorf("reading machine: %w", err)
	}
	if info.IsDir() {
		return Detect(ctx, source)
	}
	f, err := os.Open(source)
	if err != nil {
		return nil, fmt.Errorf("reading machine: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("reading machine %s: %w", source, err)
	}
	m, err := Parse(ctx, data)
	if err != nil {
		return nil, fmt.Errorf("reading machine %s: %w", source, err)
	}
	m.Source = source
	return m, nil
}

// Parse reads a machine from the content of a file, whose kind it tells by
// itself.
func Parse(ctx context.Context, data []byte) (*Machine, error) {
	if len(data) > maxInput {
		return nil, fmt.Errorf("larger than %d MiB", maxInput>>20)
	}
	object, err := yaml.YAMLToJSON(data)
	if err != nil || !bytes.HasPrefix(object, []byte("{")) {
		return nil, errors.New("not a machine: expected a kqos snapshot, a cadvisor MachineInfo, an hwloc XML, a NodeResourceTopology or an archive of /sys")
	}
	return parseObject(object)
}

// parseObject tells the kinds of JSON objects apart.
func parseObject(object []byte) (*Machine, error) {
	var head struct {
		APIVersion string          `json:"apiVersion"`
		Kind       string          `json:"kind"`
		CPUs       json.RawMessage `json:"cpus"`
	}
	if err := json.Unmarshal(object, &head); err != nil {
		return nil, err
	}
	switch {
	case head.Kind == Kind && head.APIVersion == APIVersion, head.Kind == "" && head.CPUs != nil:
		return parseSnapshot(object)
	case head.Kind == Kind:
		return nil, fmt.Errorf("apiVersion %q of the Machine is not known: this kqos reads %s", head.APIVersion, APIVersion)
	case head.Kind != "":
		return nil, fmt.Errorf("kind %s is not a machine", head.Kind)
	}
	return nil, errors.New("not a machine")
}

// Detect reads the machine whose /sys and /proc stand below hostRoot.
func Detect(ctx context.Context, hostRoot string) (*Machine, error) {
	return nil, fmt.Errorf("reading /sys below %s: %w", hostRoot, errors.ErrUnsupported)
}
