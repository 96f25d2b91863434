package manifest

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/text/encoding/unicode"
)

// toUTF8 takes the byte order mark away and turns UTF-16 into UTF-8. kubectl
// ends each document with a newline byte, which leaves half a character where
// the low byte comes first, so it can't read that order; the kubelet takes a
// static pod file whole and reads both.
func toUTF8(data []byte, static bool) ([]byte, error) {
	order := unicode.BigEndian
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return data[3:], nil
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		if !static {
			return nil, errors.New("UTF-16 in little-endian order: kubectl stops with \"incomplete UTF-16 character\"; save it as UTF-8 (iconv -f UTF-16 -t UTF-8), or give --static if it is a static pod")
		}
		order = unicode.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
	default:
		if i := bytes.IndexByte(data[:min(len(data), binaryProbe)], 0); i >= 0 {
			return nil, fmt.Errorf("binary data (a zero byte at offset %d), neither YAML nor JSON", i)
		}
		return data, nil
	}
	out, err := unicode.UTF16(order, unicode.ExpectBOM).NewDecoder().Bytes(data)
	if err != nil {
		return nil, fmt.Errorf("reading UTF-16: %w", err)
	}
	return out, nil
}

// binaryProbe is how much of a file is looked at for a zero byte, as much as
// grep and git do.
const binaryProbe = 8000
