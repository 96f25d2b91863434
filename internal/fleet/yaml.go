package fleet

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kqos/kqos/internal/quantity"
)

// yamlStream takes the documents of a YAML stream apart, and those that hold
// items into these, by the indentation that kubectl writes.
type yamlStream struct {
	yield func(object) error
	// text gathers the object under way; large says that it grew too much.
	text  []byte
	large bool
	// document and item count as those of a stream do. inItems holds between the
	// line "items:" and the next key of the document, indent is where the items'
	// dashes stand, -1 before the first.
	document, item int
	inItems        bool
	indent         int
	// hadItems says that the document is a list; told, that its kind was seen,
	// which kubectl writes after the items.
	hadItems, told bool
	of             string
}

// eachYAML is eachObject for YAML. kubectl's documents never hold a line at the
// indentation of an item's dash that is not one: block texts stand deeper.
func eachYAML(in *bufio.Reader, yield func(object) error) error {
	s := &yamlStream{yield: yield, document: 1, indent: -1}
	for {
		line, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("document %d, after %s: %w", s.document, quantity.Count(s.item, "object"), err)
		}
		if len(line) > 0 {
			if err := s.line(line); err != nil {
				return err
			}
		}
		if err != nil {
			return s.end()
		}
	}
}

// readLine reads a line with its end, however long, but keeps no more of it than
// tells that it is too long.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line) <= maxObject {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func (s *yamlStream) line(line []byte) error {
	content := bytes.TrimLeft(line, " ")
	depth := len(line) - len(content)
	blank := len(bytes.TrimSpace(content)) == 0 || content[0] == '#'
	switch {
	case bytes.HasPrefix(line, []byte("---")) && len(bytes.TrimSpace(line)) == 3:
		return s.nextDocument()
	case s.inItems && (bytes.HasPrefix(content, []byte("- ")) || string(bytes.TrimSpace(content)) == "-") && (s.indent < 0 || depth == s.indent):
		if err := s.flush(); err != nil {
			return err
		}
		s.indent = depth
		line[depth] = ' '
	case s.inItems && !blank && depth <= max(s.indent, 0):
		if err := s.flush(); err != nil {
			return err
		}
		s.inItems = false
		s.key(line)
	case !s.inItems && depth == 0 && string(bytes.TrimSpace(line)) == "items:":
		s.inItems, s.hadItems, s.indent, s.text = true, true, -1, nil
		return nil
	case !s.inItems:
		s.key(line)
	}
	if len(s.text)+len(line) > maxObject {
		s.text, s.large = nil, true
	}
	if !s.large {
		s.text = append(s.text, line...)
	}
	return nil
}

// key notes the kind of a list.
func (s *yamlStream) key(line []byte) {
	if kind, ok := bytes.CutPrefix(line, []byte("kind:")); ok {
		s.told = true
		s.of, _ = strings.CutSuffix(strings.Trim(string(bytes.TrimSpace(kind)), `"'`), "List")
	}
}

// flush yields what was gathered.
func (s *yamlStream) flush() error {
	text, large := s.text, s.large
	s.text, s.large = nil, false
	isItem := s.inItems
	if !large && len(bytes.TrimSpace(text)) == 0 || !isItem && s.hadItems {
		return nil
	}
	o := object{at: fmt.Sprintf("document %d", s.document), text: text, yaml: true}
	if isItem {
		o.at, o.of = fmt.Sprintf("items[%d]", s.item), s.of
	}
	if large {
		o.text, o.err = nil, errTooLarge
	}
	s.item++
	return s.yield(o)
}

func (s *yamlStream) nextDocument() error {
	if err := s.flush(); err != nil {
		return err
	}
	if s.item > 0 || s.hadItems {
		s.document++
	}
	s.item, s.inItems, s.hadItems, s.told, s.of = 0, false, false, false, ""
	return nil
}

// end yields the last object. kubectl writes kind and metadata after the items,
// so that a list which ends within them is truncated, and its last item too.
func (s *yamlStream) end() error {
	if s.inItems && !s.told {
		return fmt.Errorf("document %d ends after %s, in the middle of what follows: the list is truncated", s.document, quantity.Count(s.item, "object"))
	}
	return s.flush()
}
