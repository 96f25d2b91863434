package older

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
)

// Serve answers questions with the functions until the input ends. A function
// returns a value, an error, or both.
func Serve(in io.Reader, out io.Writer, functions map[string]any) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := json.Marshal(serve(line, functions))
		if err != nil {
			return err
		}
		if _, err := out.Write(append(data, '\n')); err != nil {
			return err
		}
	}
}

func serve(line []byte, functions map[string]any) (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a = answer{Panic: fmt.Sprintf("%v\n%s", r, debug.Stack())}
		}
	}()
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		panic(err)
	}
	function := reflect.ValueOf(functions[q.Function])
	if !function.IsValid() {
		panic("no function " + q.Function)
	}
	var arguments []reflect.Value
	for i, text := range q.Arguments {
		argument := reflect.New(function.Type().In(i))
		if err := json.Unmarshal(text, argument.Interface()); err != nil {
			panic(fmt.Sprintf("argument %d of %s: %v", i, q.Function, err))
		}
		arguments = append(arguments, argument.Elem())
	}
	for _, result := range function.Call(arguments) {
		if err, ok := reflect.TypeAssert[error](result); ok {
			a.Error = err.Error()
			continue
		}
		data, err := json.Marshal(result.Interface())
		if err != nil {
			panic(err)
		}
		if string(data) != "null" {
			a.Value = data
		}
	}
	return a
}
