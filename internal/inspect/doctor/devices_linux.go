package doctor

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// unlinked are the device files of NVIDIA's driver without a link in /dev/char. An
// archive has no device files.
func unlinked(root string) []string {
	var names []string
	for _, pattern := range []string{"dev/nvidia*", "dev/nvidia-caps/*"} {
		// The pattern is a constant without a fault, which is the only error.
		files, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, file := range files {
			var info unix.Stat_t
			if unix.Stat(file, &info) != nil || info.Mode&unix.S_IFMT != unix.S_IFCHR {
				continue
			}
			rdev := uint64(info.Rdev) //nolint:unconvert // narrower on some architectures
			link := fmt.Sprintf("dev/char/%d:%d", unix.Major(rdev), unix.Minor(rdev))
			if _, err := os.Lstat(filepath.Join(root, link)); os.IsNotExist(err) {
				names = append(names, filepath.Base(file))
			}
		}
	}
	return names
}
