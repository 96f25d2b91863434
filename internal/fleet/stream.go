package fleet

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kqos/kqos/internal/quantity"
)

// maxObject bounds one object in bytes. An API server stores none above some
// 1.5 MB (etcd's own limit), which grow to a few times that when kubectl indents
// them.
const maxObject = 32 << 20

// errTooLarge is told of an object beyond maxObject; reading goes on after it.
var errTooLarge = fmt.Errorf("larger than %d MiB, which no API server stores", maxObject>>20)

// object is one object of a stream.
type object struct {
	// at is where it stands, such as items[3] or document 2.
	at string
	// text is JSON, or YAML where yaml is set. It is only valid until the next
	// object is asked for.
	text []byte
	yaml bool
	// of is the kind of the typed list that it is an item of, such as Pod; empty
	// where the list says nothing, or only after its items.
	of string
	// err says why there is no text.
	err error
}

// stream takes a List, typed lists, arrays and rows of single objects apart
// without holding more than one object.
type stream struct {
	in      *jsontext.Decoder
	allowed *allowance
	yield   func(object) error
	// document counts the values at the top, item the objects of the current one.
	document, item int
}

// allowance ends reading once an object grows too large.
type allowance struct {
	io.Reader
	left int64
}

func (a *allowance) Read(p []byte) (int, error) {
	if a.left <= 0 {
		return 0, errTooLarge
	}
	n, err := a.Reader.Read(p[:min(int64(len(p)), a.left)])
	a.left -= int64(n)
	return n, err
}

// eachObject calls yield with every object of r in order. The error says where
// the stream breaks off; what came before has been yielded.
func eachObject(r io.Reader, yield func(object) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	head, err := firstByte(in)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	if head != '{' && head != '[' {
		return eachYAML(in, yield)
	}
	s := &stream{allowed: &allowance{Reader: in, left: math.MaxInt64}, yield: yield}
	s.in = jsontext.NewDecoder(s.allowed, jsonOptions())
	return s.all()
}

// firstByte skips blank space and a byte order mark, and looks at what follows.
func firstByte(in *bufio.Reader) (byte, error) {
	for {
		head, err := in.Peek(1)
		if err != nil {
			return 0, err
		}
		switch head[0] {
		case ' ', '\t', '\r', '\n', 0xef, 0xbb, 0xbf:
			// What Peek showed is there to be dropped.
			_, _ = in.Discard(1)
		default:
			return head[0], nil
		}
	}
}

// jsonOptions read as the API server's decoder does: the last of two equal names
// counts, and broken UTF-8 is mended.
func jsonOptions() json.Options {
	return json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

func (s *stream) all() error {
	for {
		s.document++
		s.item = 0
		var err error
		switch s.in.PeekKind() {
		case '[':
			err = s.array("")
		case '{':
			err = s.list()
		default:
			err = s.in.SkipValue()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			continue
		}
		if syntax := (*jsontext.SyntacticError)(nil); s.item > 0 || errors.Is(err, io.ErrUnexpectedEOF) || !errors.As(err, &syntax) {
			return s.broken(err)
		}
		if err := s.nextRow(s.broken(err)); err != nil {
			return err
		}
	}
}

// nextRow goes on after a broken object in a row of objects, at the next line
// that starts with one.
func (s *stream) nextRow(broken error) error {
	if err := s.yield(object{at: fmt.Sprintf("document %d", s.document), err: broken}); err != nil {
		return err
	}
	rest := io.MultiReader(bytes.NewReader(bytes.Clone(s.in.UnreadBuffer())), s.allowed.Reader)
	lines := bufio.NewReader(rest)
	for {
		if _, err := readLine(lines); err != nil {
			break
		}
		if head, err := lines.Peek(1); err != nil || head[0] == '{' {
			break
		}
	}
	// Not lines itself: a MultiReader lets go of what it has read to its end, a
	// bufio.Reader would stay below the next one for every broken row.
	ahead, _ := lines.Peek(lines.Buffered())
	s.allowed = &allowance{Reader: io.MultiReader(bytes.NewReader(ahead), rest), left: math.MaxInt64}
	s.in.Reset(s.allowed, jsonOptions())
	return nil
}

// broken words an error with the place where the stream broke off.
func (s *stream) broken(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("document %d ends after %s, in the middle of what follows: the list is truncated", s.document, quantity.Count(s.item, "object"))
	}
	if syntax := (*jsontext.SyntacticError)(nil); errors.As(err, &syntax) {
		return fmt.Errorf("document %d, after %s, byte %d: %w; what follows is not read", s.document, quantity.Count(s.item, "object"), syntax.ByteOffset, syntax.Err)
	}
	return fmt.Errorf("document %d, after %s: %w", s.document, quantity.Count(s.item, "object"), err)
}

// list reads an object of the top: where it has items they are yielded one by
// one, else it is yielded itself.
func (s *stream) list() error {
	if _, err := s.in.ReadToken(); err != nil {
		return err
	}
	own := []byte("{")
	of, isList := "", false
	// The own fields of a list are not needed; an object that lacks some is none.
	var large error
	for s.in.PeekKind() != '}' {
		name, err := s.in.ReadToken()
		if err != nil {
			return err
		}
		// The token is void once the decoder moves on.
		key := name.String()
		if key == "items" && s.in.PeekKind() == '[' {
			isList = true
			if err := s.array(of); err != nil {
				return err
			}
			continue
		}
		quoted, err := jsontext.AppendQuote(nil, key)
		if err != nil {
			return err
		}
		value, err := s.value()
		if len(own)+len(value) > maxObject {
			err = errTooLarge
		}
		if errors.Is(err, errTooLarge) {
			large = err
			continue
		}
		if err != nil {
			return err
		}
		if key == "kind" {
			of, _ = strings.CutSuffix(strings.Trim(string(value), `"`), "List")
		}
		if len(own) > 1 {
			own = append(own, ',')
		}
		own = append(append(append(own, quoted...), ':'), value...)
	}
	if _, err := s.in.ReadToken(); err != nil || isList {
		return err
	}
	s.item++
	return s.yield(object{at: fmt.Sprintf("document %d", s.document), text: append(own, '}'), err: large})
}

// array yields what an array holds.
func (s *stream) array(of string) error {
	if _, err := s.in.ReadToken(); err != nil {
		return err
	}
	for s.in.PeekKind() != ']' {
		text, err := s.value()
		if err != nil && !errors.Is(err, errTooLarge) {
			return err
		}
		o := object{at: fmt.Sprintf("items[%d]", s.item), text: text, of: of, err: err}
		s.item++
		if err := s.yield(o); err != nil {
			return err
		}
	}
	_, err := s.in.ReadToken()
	return err
}

// value reads one value. One that is too large is skipped, in pieces, and
// errTooLarge returned with null.
func (s *stream) value() (jsontext.Value, error) {
	s.allowed.left = maxObject
	value, err := s.in.ReadValue()
	s.allowed.left = math.MaxInt64
	if !errors.Is(err, errTooLarge) {
		return value, err
	}
	if err := s.in.SkipValue(); err != nil {
		return nil, err
	}
	return jsontext.Value("null"), errTooLarge
}
