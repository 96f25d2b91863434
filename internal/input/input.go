// Package input reads whole what a person names: files, pipes, devices and
// streams, never more of one than its reader has use for.
//
//	text, err := input.File("/dev/zero", input.Manifests) // an error, not all memory
package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Limits in bytes of what is read for one purpose.
const (
	// Manifests bounds a file of pods, a dump of a whole cluster included.
	Manifests = 256 << 20
	// Machine bounds the description of a machine, or a packed copy of its /sys;
	// the largest known are hwloc exports of a few MiB.
	Machine = 64 << 20
	// Config bounds a configuration, a checkpoint, a template, a saved plan and the
	// like. The largest in the field have some hundred kilobytes.
	Config = 16 << 20
)

var errTooLarge = errors.New("the most that kqos reads of one such input")

// File reads a file to its end, which must come within limit bytes. Every error
// is an *fs.PathError.
func File(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := All(f, limit)
	if errors.Is(err, errTooLarge) {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return data, err
}

// All reads a stream to its end, which must come within limit bytes.
func All(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("larger than %d MiB, %w", limit>>20, errTooLarge)
	}
	return data, nil
}
