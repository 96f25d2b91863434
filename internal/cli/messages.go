package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// levelNotice is that of messages which show without -v and warn of nothing.
const levelNotice = slog.LevelInfo + 2

// newLogger writes messages for people, or as JSON lines. Verbosity 0 shows
// errors, warnings and notices, 1 what is being done, 2 and more all details,
// -1 errors alone.
func newLogger(w io.Writer, format string, verbosity int) (*slog.Logger, error) {
	level := levelNotice
	switch {
	case verbosity < 0:
		level = slog.LevelError
	case verbosity > 0:
		level = slog.LevelWarn - slog.Level(4*verbosity)
	}
	switch format {
	case "text":
		return slog.New(textHandler{w: w, level: level}), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: nameNotice})), nil
	}
	return nil, checkWord("log-format", format, "text", "json")
}

// nameNotice gives the level of notices its name.
func nameNotice(_ []string, attr slog.Attr) slog.Attr {
	if attr.Key == slog.LevelKey && attr.Value.Any() == levelNotice {
		return slog.String(slog.LevelKey, "NOTICE")
	}
	return attr
}

// notice tells something that is neither a fault nor a part of the result, once:
// a command that runs on comes by again.
func (a *app) notice(text string) {
	if a.noticed == text {
		return
	}
	a.noticed = text
	a.logger().Log(context.Background(), levelNotice, text)
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
