package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// newLogger writes messages for people, or as JSON lines. Verbosity 0 shows
// warnings and errors, 1 what is being done, 2 and more all details.
func newLogger(w io.Writer, format string, verbosity int) (*slog.Logger, error) {
	level := slog.LevelWarn - slog.Level(4*verbosity)
	switch format {
	case "text":
		return slog.New(textHandler{w: w, level: level}), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})), nil
	}
	return nil, fmt.Errorf("--log-format %q: must be text or json", format)
}

// textHandler prints "kqos: message key=value", with the level's name where it
// is not an error.
type textHandler struct {
	w     io.Writer
	level slog.Level
	attrs string
}

func (h textHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

func (h textHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString("kqos: ")
	switch {
	case r.Level >= slog.LevelError:
	case r.Level >= slog.LevelWarn:
		b.WriteString("warning: ")
	}
	b.WriteString(r.Message)
	b.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		fmt.Fprintf(&b, " %s=%v", a.Key, a.Value)
		return true
	})
	b.WriteByte('\n')
	_, err := io.WriteString(h.w, b.String())
	return err
}

func (h textHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		h.attrs += fmt.Sprintf(" %s=%v", a.Key, a.Value)
	}
	return h
}

func (h textHandler) WithGroup(string) slog.Handler { return h }
