package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kqos/kqos/internal/archive"
	"github.com/kqos/kqos/internal/inspect"
)

// unpackHost lets --host-root be an archive: it is unpacked into a folder that
// only this user can read and that goes with the command. What is no root of a
// host is refused, since nearly all that is asked of it would be unknown.
func (a *app) unpackHost(cmd *cobra.Command) error {
	flag := cmd.Flags().Lookup("host-root")
	if flag == nil || !flag.Changed {
		return nil
	}
	file := flag.Value.String()
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return checkRoot(file, file)
	}
	if a.unpacked, err = os.MkdirTemp("", "kqos-host-"); err != nil {
		return fmt.Errorf("--host-root %s: unpacking: %w", file, err)
	}
	if err := unpack(cmd.Context(), file, a.unpacked); err != nil {
		return fmt.Errorf("--host-root %s: %w", file, err)
	}
	if err := checkRoot(file, a.unpacked); err != nil {
		return err
	}
	// The folder is nobody's affair: paths are told as the host itself names them.
	a.Out, a.Err = hostPaths{a.Out, a.unpacked}, hostPaths{a.Err, a.unpacked}
	return flag.Value.Set(a.unpacked)
}

// checkRoot refuses a folder that has nothing of a host; it was named otherwise.
func checkRoot(named, folder string) error {
	if _, err := os.ReadDir(folder); err != nil {
		return fmt.Errorf("--host-root %s: %w: name the root of a host, or an archive that kqos collect made", named, err)
	}
	for _, part := range []string{"proc", "sys", "etc", "var", "run"} {
		if exists(filepath.Join(folder, part)) {
			return nil
		}
	}
	return fmt.Errorf("--host-root %s: none of /proc, /sys, /etc, /var and /run is in it, so it is no root of a host", named)
}

// warnPartial tells where what is seen below root is not the host but only a
// container on it.
func (a *app) warnPartial(root string) {
	h, err := inspect.Open(root)
	if err != nil {
		return // what needs cgroups tells that there are none
	}
	defer h.Close()
	if partial := h.Partial(root); partial != "" {
		a.logger().Warn(onlyContainer + partial)
	}
}

// onlyContainer begins what is told of a view that is not the host's.
const onlyContainer = "only a container is seen, not its host: "

// hostPaths takes a folder out of the paths that are written, each whole within
// one write.
type hostPaths struct {
	io.Writer
	folder string
}

func (h hostPaths) Write(text []byte) (int, error) {
	if _, err := h.Writer.Write(bytes.ReplaceAll(text, []byte(h.folder), nil)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// unpack writes what an archive holds below a folder. Links stay within it: each
// is written anew, relative to where it stands.
func unpack(ctx context.Context, file, folder string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	files, err := archive.Read(ctx, f)
	if err != nil {
		return err
	}
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		to := filepath.Join(folder, filepath.FromSlash(name))
		switch {
		case d.IsDir():
			return os.MkdirAll(to, 0o700)
		case d.Type()&fs.ModeSymlink != 0:
			target, err := files.ReadLink(name)
			if err != nil {
				return err
			}
			return os.Symlink(inside(name, target), to)
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return nil //nolint:nilerr // too large to be kept: what reads it tells that it is not there
		}
		return os.WriteFile(to, text, 0o600)
	})
}

// inside is a link's target relative to the link, taken from the archive's root
// as in a chroot: no dots of the archive lead above that root.
func inside(link, target string) string {
	if !path.IsAbs(target) {
		target = path.Join("/", path.Dir(link), target)
	}
	up := strings.Repeat("../", strings.Count(link, "/"))
	return filepath.FromSlash(up + "." + path.Clean(target))
}
