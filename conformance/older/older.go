// Package older asks a kubelet of another minor. Its code cannot be linked
// beside that of v1.37, nor with the API that kqos is built with, so that the
// packages of oracle are built into a program with the modules of that minor,
// which answers over its standard input and output.
//
//	if older.Asked() {
//		return older.Ask[View]("pod.QOS", pod, memory)
//	}
package older

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

// The environment: the minor that is asked, "1.36", and its program.
const (
	Kubelet = "KQOS_KUBELET"
	Program = "KQOS_ORACLE"
)

// Asked tells whether another kubelet is to be asked than the one linked.
func Asked() bool { return os.Getenv(Program) != "" }

// question is a line to the program: a function and its arguments.
type question struct {
	Function  string            `json:"function"`
	Arguments []json.RawMessage `json:"arguments"`
}

// answer is a line back: what the function returned, its error last.
type answer struct {
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"`
	// Panic says that the kubelet's code crashed, or that the question is wrong.
	Panic string `json:"panic,omitempty"`
}

// program is a running oracle.
type program struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

var running = sync.OnceValues(func() (*program, error) {
	c := exec.Command(os.Getenv(Program))
	c.Stderr = os.Stderr
	c.Env = append(os.Environ(), Program+"=")
	in, errIn := c.StdinPipe()
	out, errOut := c.StdoutPipe()
	if err := errors.Join(errIn, errOut); err != nil {
		return nil, err
	}
	// It ends with its standard input, that is with the test.
	return &program{in: in, out: bufio.NewReader(out)}, c.Start()
})

// Ask has the program call the function that Serve knows by that name. It
// panics where the program cannot answer.
func Ask[T any](function string, arguments ...any) T {
	value, err := Try[T](function, arguments...)
	if err != nil {
		panic(fmt.Sprintf("asking for %s: %v", function, err))
	}
	return value
}

// Try is Ask for a function that returns an error: its text.
func Try[T any](function string, arguments ...any) (value T, err error) {
	a, err := ask(function, arguments)
	switch {
	case err != nil:
		panic(fmt.Sprintf("asking for %s: %v", function, err))
	case a.Panic != "":
		panic(a.Panic)
	case a.Value != nil:
		if err := json.Unmarshal(a.Value, &value); err != nil {
			panic(fmt.Sprintf("reading the answer of %s: %v", function, err))
		}
	}
	if a.Error != "" {
		return value, errors.New(a.Error)
	}
	return value, nil
}

func ask(function string, arguments []any) (a answer, err error) {
	p, err := running()
	if err != nil {
		return a, err
	}
	q := question{Function: function}
	for _, argument := range arguments {
		data, err := json.Marshal(argument)
		if err != nil {
			return a, err
		}
		q.Arguments = append(q.Arguments, data)
	}
	line, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return a, err
	}
	if line, err = p.out.ReadBytes('\n'); err != nil {
		return a, err
	}
	return a, json.Unmarshal(line, &a)
}
