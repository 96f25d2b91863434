package manifest

import (
	"bytes"
	"fmt"
)

// chunk is the text of one YAML document, or what is wrong with its separator.
type chunk struct {
	text []byte
	err  error
}

// splitYAML cuts a stream at lines that start with "---", as kubectl does: only
// a comment may follow on that line, and one that follows nothing stays part of
// the document after it.
//
// apimachinery v0.37: pkg/util/yaml/decoder.go YAMLReader.
func splitYAML(data []byte) []chunk {
	var chunks []chunk
	start, i := 0, 0
	for i < len(data) {
		line := i
		i = endOfLine(data, i)
		if !bytes.HasPrefix(data[line:i], []byte("---")) {
			continue
		}
		if rest := bytes.TrimSpace(data[line+3 : i]); len(rest) > 0 && rest[0] != '#' {
			chunks = append(chunks, chunk{err: fmt.Errorf("invalid Yaml document separator: %s", rest)})
			start = i
			continue
		}
		if line > start {
			chunks = append(chunks, chunk{text: data[start:line]})
			start = i
		}
	}
	if start < len(data) {
		chunks = append(chunks, chunk{text: data[start:]})
	}
	return chunks
}

// endOfLine is the index after the line that starts at i.
func endOfLine(data []byte, i int) int {
	if n := bytes.IndexByte(data[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(data)
}
