package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress is a line on stderr about work that takes long. It appears only on a
// terminal and not before patience ends.
type progress struct {
	out    io.Writer
	what   string
	mu     sync.Mutex
	next   time.Time
	shown  bool
	closed bool
}

const (
	patience = time.Second
	redraw   = 100 * time.Millisecond
)

// progress starts a line about things of the given name.
func (a *app) progress(what string) *progress {
	p := &progress{what: what, next: time.Now().Add(patience)}
	if a.ErrTerminal {
		p.out = a.Err
	}
	return p
}

// report tells how many are done, of how many where that is known. Any goroutine
// may call it.
func (p *progress) report(done, all int) {
	if p.out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); !p.closed && now.After(p.next) {
		p.next, p.shown = now.Add(redraw), true
		of := ""
		if all > 0 {
			of = fmt.Sprintf(" of %d", all)
		}
		fmt.Fprintf(p.out, "\r%d%s %s", done, of, p.what)
	}
}

// end takes the line away again.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed = true; p.shown {
		// Return, and erase to the end of the line.
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
