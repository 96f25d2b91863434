package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kqos/kqos/internal/archive"
	"github.com/kqos/kqos/internal/input"
)

// errNotMachine names what would have been one.
var errNotMachine = errors.New("not a machine: expected a kqos snapshot, a cadvisor MachineInfo, an hwloc XML, a NodeResourceTopology, or an archive or folder of /sys")

// Load reads a machine from any source that --topology takes: "synthetic:…",
// or the path of a file or folder, whose kind is told by its content. Of an
// archive with several machines, "#folder" after the path names the one.
func Load(ctx context.Context, source string) (*Machine, error) {
	if strings.HasPrefix(source, SyntheticPrefix) {
		return ParseSynthetic(source)
	}
	file, folder := source, ""
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) && strings.Contains(source, "#") {
		i := strings.LastIndex(source, "#")
		file, folder = source[:i], source[i+1:]
		info, err = os.Stat(file)
	}
	if err != nil {
		return nil, fmt.Errorf("reading machine: %w", err)
	}
	if info.IsDir() {
		return Detect(ctx, path.Join(file, folder))
	}
	data, err := input.File(file, input.Machine)
	if err != nil {
		return nil, fmt.Errorf("reading machine %s: %w", file, err)
	}
	m, err := parse(ctx, data, folder)
	if err != nil {
		return nil, fmt.Errorf("reading machine %s: %w", file, err)
	}
	m.Source = source
	return m, nil
}

// Parse reads a machine from the content of a file, whose kind it tells by
// itself: every kind of Load but folders and synthetic descriptions.
func Parse(ctx context.Context, data []byte) (*Machine, error) { return parse(ctx, data, "") }

func parse(ctx context.Context, data []byte, folder string) (*Machine, error) {
	head := make([]byte, 512)
	unpacked, err := archive.Unpack(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	n, err := io.ReadFull(unpacked, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	head = head[:n]
	if bytes.IndexByte(head, 0) >= 0 && !bytes.HasPrefix(head, []byte("\xff\xfe")) && !bytes.HasPrefix(head, []byte("\xfe\xff")) {
		files, err := archive.Read(ctx, bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return parseArchive(ctx, files, folder)
	}
	text, err := input.All(io.MultiReader(bytes.NewReader(head), unpacked), input.Machine)
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	return parseText(text)
}

func parseText(text []byte) (*Machine, error) {
	text = bytes.TrimPrefix(bytes.TrimSpace(text), []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(text, []byte("<")) {
		return parseHwloc(text)
	}
	object, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", errNotMachine, err.Error())
	}
	if !bytes.HasPrefix(object, []byte("{")) {
		return nil, errNotMachine
	}
	return parseObject(object)
}

// parseObject tells the kinds of JSON objects apart.
func parseObject(object []byte) (*Machine, error) {
	var head struct {
		APIVersion string          `json:"apiVersion"`
		Kind       string          `json:"kind"`
		CPUs       json.RawMessage `json:"cpus"`
		NumCores   json.RawMessage `json:"num_cores"`
	}
	if err := json.Unmarshal(object, &head); err != nil {
		return nil, errNotMachine
	}
	switch {
	case head.Kind == Kind && head.APIVersion == APIVersion, head.Kind == "" && head.CPUs != nil:
		return parseSnapshot(object)
	case head.Kind == Kind:
		return nil, fmt.Errorf("apiVersion %q of the Machine is not known: this kqos reads %s", head.APIVersion, APIVersion)
	case head.Kind == "" && head.NumCores != nil:
		return parseMachineInfo(object)
	case head.Kind == nrtKind:
		return parseNRT(object)
	case head.Kind == "List" || head.Kind == nrtKind+"List":
		return parseNRTList(object)
	case head.Kind != "":
		return nil, fmt.Errorf("kind %s is not a machine", head.Kind)
	}
	return nil, errNotMachine
}

// parseArchive reads the machine whose /sys stands in the archive, or of
// several the one below the folder.
func parseArchive(ctx context.Context, files *archive.FS, folder string) (*Machine, error) {
	roots := machineRoots(files)
	if folder != "" {
		roots = slices.DeleteFunc(roots, func(r string) bool { return r != path.Clean(folder) && path.Base(r) != folder })
	}
	switch {
	case len(roots) == 0 && folder != "":
		return nil, fmt.Errorf("no machine in the folder %s of the archive", folder)
	case len(roots) == 0:
		return nil, errors.New("no sys/devices/system/cpu in the archive: not a copy of a node's /sys")
	case len(roots) > 1:
		return nil, fmt.Errorf("several machines in the archive: name one as FILE#FOLDER, FOLDER being one of %s", strings.Join(roots, ", "))
	}
	root, err := files.Sub(roots[0])
	if err != nil {
		return nil, err
	}
	return detectIn(ctx, root)
}

// machineRoots are the folders that hold a machine's sys, or are a copy of it.
func machineRoots(files fs.FS) []string {
	var roots []string
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil //nolint:nilerr // a folder that cannot be listed holds no machine
		}
		if _, err := openTree(subFS{files, name}); err == nil {
			roots = append(roots, name)
			return fs.SkipDir
		}
		return nil
	})
	return roots
}

// subFS asks for files below a folder without the cost of fs.Sub.
type subFS struct {
	fs.FS
	dir string
}

func (s subFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(s.FS, path.Join(s.dir, name)) }
