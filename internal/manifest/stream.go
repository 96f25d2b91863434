package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"sigs.k8s.io/yaml"

	"github.com/kqos/kqos/internal/parallel"
)

// maxYAMLDocument bounds one YAML document in bytes: decoding takes up to
// some fifty times its size in memory.
const maxYAMLDocument = 32 << 20

// document is one value of a stream, as JSON.
type document struct {
	number int
	// text as it stood in the stream, for those who decode it themselves.
	text []byte
	json []byte
	// repeated are keys that stand twice in one YAML mapping.
	repeated []string
	err      error
}

// documents takes a stream apart. A stream that starts with an opening brace is
// a row of JSON values; where that fails within the first two, the rest is
// tried as YAML, and where that fails too the stream ends.
//
// Unless careful is set, a JSON value counts as such once its brackets match:
// whoever decodes it will find the fault, and can then come back carefully.
//
// apimachinery v0.37: pkg/util/yaml/decoder.go YAMLOrJSONDecoder.
func documents(data []byte, careful bool) []document {
	if !startsObject(data) {
		return yamlDocuments(data, 0)
	}
	docs, rest, err := jsonDocuments(data, careful)
	if err == nil {
		return docs
	}
	failed := document{number: len(docs) + 1, err: fmt.Errorf("%w%s", inWords(err), templateHint(rest))}
	if len(docs) > 1 {
		return append(docs, failed)
	}
	more := yamlDocuments(afterBlank(rest), len(docs))
	if len(more) == 0 || more[0].err != nil {
		return append(docs, failed)
	}
	return append(docs, more...)
}

func startsObject(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeftFunc(data, unicode.IsSpace), []byte("{"))
}

// afterBlank drops white space up to and including the first line end, which is
// what separates a JSON value from a YAML document after it.
func afterBlank(data []byte) []byte {
	for i, c := range data {
		switch c {
		case '\n':
			return data[i+1:]
		case ' ', '\t', '\r':
		default:
			return data[i:]
		}
	}
	return nil
}

// jsonDocuments reads values until one is not JSON; rest starts there.
func jsonDocuments(data []byte, careful bool) (docs []document, rest []byte, err error) {
	for i := skipSpace(data, 0); i < len(data); i = skipSpace(data, i) {
		end, _, ok := scanObject(data[i:])
		if !ok || careful && !json.Valid(data[i:i+end]) {
			value, err := firstValue(data[i:])
			if err != nil {
				return docs, data[i:], err
			}
			end = len(value)
		}
		text := data[i : i+end]
		docs = append(docs, document{number: len(docs) + 1, text: text, json: text})
		i += end
	}
	return docs, nil, nil
}

// firstValue reads one JSON value of any type.
func firstValue(data []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	var value json.RawMessage
	err := decoder.Decode(&value)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return nil, fmt.Errorf("json: offset %d: %w", syntax.Offset, err)
	}
	return data[:decoder.InputOffset()], err
}

// yamlDocuments converts each document of a YAML stream; before is the number
// of documents that came before it.
func yamlDocuments(data []byte, before int) []document {
	chunks := splitYAML(data)
	docs := make([]document, len(chunks))
	parallel.Each(len(chunks), func(i int) {
		docs[i] = document{number: before + i + 1, text: chunks[i].text, err: chunks[i].err}
		if docs[i].err == nil {
			docs[i].convert()
		}
	})
	return docs
}

// convert turns YAML into JSON. The strict conversion refuses a key that stands
// twice; the API server takes the last one.
func (d *document) convert() {
	if len(d.text) > maxYAMLDocument {
		d.err = fmt.Errorf("a YAML document of %d MiB: kqos reads up to %d MiB; split it or give it as JSON", len(d.text)>>20, maxYAMLDocument>>20)
		return
	}
	if startsObject(d.text) && json.Valid(d.text) {
		d.json = d.text
		return
	}
	var err error
	if d.json, err = yaml.YAMLToJSONStrict(d.text); err == nil {
		return
	}
	strict := err
	if d.json, err = yaml.YAMLToJSON(d.text); err != nil {
		d.err = fmt.Errorf("%w%s", inWords(err), templateHint(d.text))
		return
	}
	// go-yaml also counts a key that overrides a merged one as repeated.
	if !bytes.Contains(d.text, []byte("<<")) {
		d.repeated = repeatedKeys(strict)
	}
}

// repeatedKeys takes the messages of go-yaml's type error apart.
func repeatedKeys(err error) []string {
	var out []string
	for _, m := range regexp.MustCompile(`line (\d+): key (.*) already set in map`).FindAllStringSubmatch(err.Error(), -1) {
		out = append(out, fmt.Sprintf("line %s: key %s stands twice, the last one counts", m[1], m[2]))
	}
	if len(out) == 0 {
		out = append(out, strings.ReplaceAll(err.Error(), "\n", " "))
	}
	return out
}
