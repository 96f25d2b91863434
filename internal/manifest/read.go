package manifest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kqos/kqos/internal/input"
	"github.com/kqos/kqos/internal/parallel"
)

// Read reads files, folders and "-" in the given order. What can't be read is
// told in Errors beside all that can.
func Read(inputs []string, o Options) *Input { return Open(inputs, o).all() }

// Open is Read without decoding the pods yet.
func Open(inputs []string, o Options) *Stream {
	var units []*decoder
	var files []string
	stdin := false
	for _, name := range inputs {
		if name == "-" && stdin {
			units = append(units, settled(problem(name, "standard input is named twice; it can be read once")))
			continue
		}
		stdin = stdin || name == "-"
		found, err := expand(name, o)
		if err != nil {
			units = append(units, settled(problem(name, err.Error())))
		}
		files = append(files, found...)
	}
	streams := make([][]*decoder, len(files))
	parallel.Each(len(files), func(i int) { streams[i] = open(files[i], o) })
	return newStream(slices.Concat(units, slices.Concat(streams...)))
}

func problem(file, message string) Input {
	return Input{Errors: []*Problem{{File: file, Message: message}}}
}

func open(name string, o Options) []*decoder {
	data, err := load(name, o.Stdin)
	if err != nil {
		return []*decoder{settled(problem(name, withoutPath(err).Error()))}
	}
	return scan(name, data, o)
}

func load(name string, stdin io.Reader) ([]byte, error) {
	if name == "-" {
		if stdin == nil {
			return nil, errors.New("there is no standard input")
		}
		return input.All(stdin, input.Manifests)
	}
	return input.File(name, input.Manifests)
}

// expand lists the files that an argument means.
func expand(name string, o Options) ([]string, error) {
	switch name {
	case "-":
		return []string{name}, nil
	case "":
		return nil, errors.New("an empty name: give a file, a folder or -")
	}
	if strings.Contains(name, "://") {
		return nil, fmt.Errorf("kqos fetches no URLs; use: curl -s %s | kqos … -", name)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, withoutPath(err)
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	var files []string
	err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == name:
		case d.IsDir() && !o.Recursive:
			return fs.SkipDir
		case !d.IsDir() && taken(path, o.Static):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return files, fmt.Errorf("reading the folder: %w", err)
	}
	if len(files) == 0 {
		return nil, errors.New("the folder has no .yaml, .yml or .json file; -R also reads the folders in it")
	}
	return files, nil
}

// taken tells whether a file of a folder is read: by kubectl's extensions, or
// any visible name in a static pod folder, where links to folders, pipes and
// the like are none.
//
// kubelet v1.37: pkg/kubelet/config/file.go extractFromDir.
func taken(path string, static bool) bool {
	base := filepath.Base(path)
	if static {
		info, err := os.Stat(path)
		return !strings.HasPrefix(base, ".") && (err != nil || info.Mode().IsRegular())
	}
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(base))
}

// withoutPath drops the operation and path that os errors repeat.
func withoutPath(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}
