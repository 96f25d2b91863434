package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kqos/kqos/internal/input"
)

// tree is a node's /sys and /proc: live, below a folder, or in an archive.
type tree struct {
	files fs.FS
	// sys and proc are where they stand in files; proc is "" when it is missing.
	sys, proc string
}

// openTree finds /sys below the root of files, which may also be a copy of
// /sys itself.
func openTree(files fs.FS) (tree, error) {
	for _, t := range []tree{{files, "sys", "proc"}, {files, ".", ""}} {
		for _, dir := range []string{"devices/system/cpu", "devices/system/node"} {
			if info, err := fs.Stat(files, path.Join(t.sys, dir)); err == nil && info.IsDir() {
				return t, nil
			}
		}
	}
	if _, err := fs.Stat(files, "proc/cpuinfo"); err == nil {
		return tree{files, "sys", "proc"}, nil
	}
	return tree{}, errors.New("no sys/devices/system/cpu in it: not a copy of a node's /sys")
}

// text is the content of a file of /sys, without the newline at its end.
func (t tree) text(parts ...string) (string, error) {
	return t.read(path.Join(t.sys, path.Join(parts...)))
}

// procText is the content of a file of /proc.
func (t tree) procText(name string) (string, error) {
	if t.proc == "" {
		return "", fs.ErrNotExist
	}
	return t.read(path.Join(t.proc, name))
}

// read reads a file of /sys or /proc; the largest known, /proc/cpuinfo of 2048
// CPUs, has 3 MiB.
func (t tree) read(name string) (string, error) {
	f, err := t.files.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := input.All(f, input.Config)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", name, err)
	}
	return strings.TrimSpace(string(data)), nil
}

// number reads a file that holds one decimal number.
func (t tree) number(parts ...string) (int, error) {
	text, err := t.text(parts...)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("reading %s: %q is not a number", path.Join(parts...), text)
	}
	return n, nil
}

// list reads a file in the kernel's list format; a missing file is an empty list.
func (t tree) list(parts ...string) ([]int, error) {
	text, err := t.text(parts...)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ids, err := parseList(text)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path.Join(parts...), err)
	}
	return ids, nil
}

// has says whether the file or folder exists.
func (t tree) has(parts ...string) bool {
	_, err := fs.Stat(t.files, path.Join(t.sys, path.Join(parts...)))
	return err == nil
}

// names lists a folder by name; a missing one is empty.
func (t tree) names(parts ...string) []string {
	entries, err := fs.ReadDir(t.files, path.Join(t.sys, path.Join(parts...)))
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// numbered lists the entries of a folder called prefix and a number, in order
// of their names: cpu0, cpu1, cpu10, cpu2 as cAdvisor meets them.
func (t tree) numbered(prefix string, parts ...string) []numberedName {
	var found []numberedName
	for _, name := range t.names(parts...) {
		digits, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		if id, err := parseID(digits); err == nil && digits == strconv.Itoa(id) {
			found = append(found, numberedName{name, id})
		}
	}
	slices.SortFunc(found, func(a, b numberedName) int { return strings.Compare(a.name, b.name) })
	return found
}

type numberedName struct {
	name string
	id   int
}

// kilobytes finds a line such as "MemTotal:  32 kB" and returns bytes.
func kilobytes(text, label string) (int64, bool) {
	match := regexp.MustCompile(label + `:\s*([0-9]+) kB`).FindStringSubmatch(text)
	if match == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(match[1], 10, 64)
	if err != nil || n > (1<<62)>>10 {
		return 0, false
	}
	return n << 10, true
}

// parseMask reads the kernel's mask format, such as "00000000,000000ff".
func parseMask(text string) ([]int, error) {
	words := strings.Split(strings.TrimSpace(text), ",")
	if len(words) > maxID/32+1 {
		return nil, fmt.Errorf("mask of %d words is too long", len(words))
	}
	var ids []int
	for i, word := range words {
		bits, err := strconv.ParseUint(strings.TrimSpace(word), 16, 32)
		if err != nil {
			return nil, fmt.Errorf("mask %.80q: %q is not a word of 32 bits", text, word)
		}
		base := 32 * (len(words) - 1 - i)
		for b := range 32 {
			if bits>>b&1 == 1 {
				ids = append(ids, base+b)
			}
		}
	}
	slices.Sort(ids)
	return ids, nil
}
