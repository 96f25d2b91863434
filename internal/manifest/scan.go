package manifest

import (
	"bytes"
	"encoding/json"
)

// head is what must be known of a JSON object before it is decoded.
type head struct {
	apiVersion, kind string
	// items is the text of a top-level array of that name, nil without one, and
	// itemsAt its index in the object.
	items   []byte
	itemsAt int
	// metadata is the text of a top-level value of that name.
	metadata []byte
	// envelope is the value of a top-level kubeletconfig, as /configz answers.
	envelope []byte
}

// scanObject finds the end of the JSON object that data starts with, and its
// head on the way, in one pass. It checks nothing but brackets and strings, so
// what it accepts may still not be JSON. ok is false where data holds no whole
// object.
func scanObject(data []byte) (end int, h head, ok bool) {
	if len(data) == 0 || data[0] != '{' {
		return 0, h, false
	}
	key, isKey := "", true
	for i := skipSpace(data, 1); i < len(data); i = skipSpace(data, i) {
		switch data[i] {
		case '}':
			return i + 1, h, true
		case ',':
			isKey = true
			i++
		case ':':
			isKey = false
			i++
		default:
			next := skipValue(data, i)
			if next < 0 {
				return 0, h, false
			}
			if isKey {
				key = unquoted(data[i:next])
			} else {
				h.note(key, data[i:next], i)
			}
			i = next
		}
	}
	return 0, h, false
}

func (h *head) note(key string, value []byte, at int) {
	switch key {
	case "apiVersion":
		h.apiVersion = unquoted(value)
	case "kind":
		h.kind = unquoted(value)
	case "items":
		h.items, h.itemsAt = value, at
	case "metadata":
		h.metadata = value
	case "kubeletconfig":
		h.envelope = value
	}
}

// unquoted is the text of a JSON string, and "" for anything else.
func unquoted(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	if bytes.IndexByte(value, '\\') >= 0 {
		var s string
		// What is no JSON string after all will fail where it is decoded.
		_ = json.Unmarshal(value, &s)
		return s
	}
	return string(value[1 : len(value)-1])
}

// elements splits the text of a JSON array; ok is false where it is none.
func elements(array []byte) (list [][]byte, ok bool) {
	if len(array) == 0 || array[0] != '[' {
		return nil, false
	}
	i := skipSpace(array, 1)
	if i < len(array) && array[i] == ']' {
		return nil, true
	}
	for i < len(array) {
		next := skipValue(array, i)
		if next < 0 {
			return nil, false
		}
		list = append(list, array[i:next])
		i = skipSpace(array, next)
		switch {
		case i < len(array) && array[i] == ']':
			return list, true
		case i >= len(array) || array[i] != ',':
			return nil, false
		}
		i = skipSpace(array, i+1)
	}
	return nil, false
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
		i++
	}
	return i
}

// skipValue is the index after the value at i, -1 where it does not end.
func skipValue(data []byte, i int) int {
	depth := 0
	for i < len(data) {
		switch data[i] {
		case '"':
			if i = skipString(data, i); i < 0 {
				return -1
			}
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\n', '\t', '\r':
			if i++; depth == 0 {
				return -1
			}
			continue
		default:
			i = skipWord(data, i)
		}
		if depth <= 0 {
			return i
		}
	}
	return -1
}

// skipString is the index after the string that opens at i, -1 without its end.
func skipString(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return -1
}

func skipWord(data []byte, i int) int {
	for i < len(data) {
		switch data[i] {
		case '"', '{', '[', '}', ']', ',', ':', ' ', '\n', '\t', '\r':
			return i
		}
		i++
	}
	return i
}
