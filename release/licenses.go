package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licenses are the texts under which others' code in the binaries may be handed on,
// each with the modules that it stands in. The standard library is one of them.
func (r *release) licenses() ([]byte, error) {
	folders, err := r.modules()
	if err != nil {
		return nil, err
	}
	return gathered(folders)
}

// gathered are the texts in the folders of modules.
func gathered(folders map[string]string) ([]byte, error) {
	whose := map[string][]string{}
	for _, module := range slices.Sorted(maps.Keys(folders)) {
		texts, err := legal(folders[module])
		if err != nil {
			return nil, fmt.Errorf("reading the licenses of %s: %w", module, err)
		}
		if len(texts) == 0 {
			return nil, fmt.Errorf("%s has no license: it may not be handed on", module)
		}
		for _, text := range texts {
			whose[text] = append(whose[text], module)
		}
	}
	var all bytes.Buffer
	rule := strings.Repeat("=", 78)
	byModule := func(a, b string) int { return strings.Compare(whose[a][0]+a, whose[b][0]+b) }
	for _, text := range slices.SortedFunc(maps.Keys(whose), byModule) {
		fmt.Fprintf(&all, "%s\n%s\n%s\n\n%s\n\n", rule, strings.Join(whose[text], "\n"), rule, text)
	}
	return all.Bytes(), nil
}

// modules are the folders of all that is linked, by path and version.
func (r *release) modules() (map[string]string, error) {
	folders, download := map[string]string{}, []string{"mod", "download", "-json"}
	for _, b := range r.binaries {
		for _, module := range b.info.Deps {
			if module.Replace != nil {
				module = module.Replace
			}
			if name := module.Path + "@" + module.Version; !slices.Contains(download, name) {
				download = append(download, name)
			}
		}
	}
	text, err := r.goCommand(download...)
	if err != nil {
		return nil, err
	}
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var module struct{ Path, Version, Dir string }
		if err := decoder.Decode(&module); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		folders[module.Path+" "+module.Version] = module.Dir
	}
	root, err := r.goCommand("env", "GOROOT")
	folders["Go "+r.binaries[0].info.GoVersion] = strings.TrimSpace(string(root))
	return folders, err
}

func (r *release) goCommand(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = r.source, os.Stderr
	return cmd.Output()
}

// legal are the texts in a folder that a license asks to be handed on.
func legal(folder string) ([]string, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	name := regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-.].*)?$`)
	var texts []string
	for _, f := range files {
		if f.IsDir() || !name.MatchString(f.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, strings.TrimSpace(string(text)))
	}
	return texts, nil
}
