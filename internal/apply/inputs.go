package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// quietFor is how long inputs must be left alone before they are read again:
// an editor's or kubectl's save is several events.
const quietFor = 100 * time.Millisecond

// WatchInputs tells on the channel when one of the files or folders changed,
// appeared or went, until ctx ends. Of a file its folder is watched, since
// editors and ConfigMap mounts replace files. With recursive, folders are
// watched with all below them.
func WatchInputs(ctx context.Context, paths []string, recursive bool) (<-chan struct{}, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watching the inputs: %w", err)
	}
	for _, p := range paths {
		if err := watch(w, p, recursive); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	changed := make(chan struct{}, 1)
	go gather(ctx, w, recursive, changed)
	return changed, nil
}

// watch adds a file's folder, or a folder with those below it.
func watch(w *fsnotify.Watcher, p string, recursive bool) error {
	info, err := os.Stat(p)
	if err != nil {
		return fmt.Errorf("watching %s: %w", p, err)
	}
	if !info.IsDir() {
		p = filepath.Dir(p)
		recursive = false
	}
	if !recursive {
		if err := w.Add(p); err != nil {
			return fmt.Errorf("watching %s: %w", p, err)
		}
		return nil
	}
	return filepath.WalkDir(p, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if err := w.Add(at); err != nil {
			return fmt.Errorf("watching %s: %w", at, err)
		}
		return nil
	})
}

// gather turns bursts of events into one word each.
func gather(ctx context.Context, w *fsnotify.Watcher, recursive bool, changed chan<- struct{}) {
	defer func() { _ = w.Close() }()
	still := time.NewTimer(quietFor)
	still.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case event, ok := <-w.Events:
			if !ok {
				return
			}
			if event.Op == fsnotify.Chmod {
				continue
			}
			if info, err := os.Stat(event.Name); err == nil && info.IsDir() && recursive {
				// A folder that vanished again is no loss.
				_ = watch(w, event.Name, true)
			}
			still.Reset(quietFor)
		case <-w.Errors:
			// Events were lost: reading again makes up for it.
			still.Reset(quietFor)
		case <-still.C:
			select {
			case changed <- struct{}{}:
			default:
			}
		}
	}
}
