package fleet

import (
	"bytes"
	"context"
	"strings"
)

// maxListDepth bounds Lists within Lists.
const maxListDepth = 4

func isList(kind string) bool { return strings.HasSuffix(kind, "List") }

// appendItems decodes the items of a List that is itself an item.
func (d *decoder) appendItems(ctx context.Context, records []record, outer object, text []byte, depth int) []record {
	err := eachObject(bytes.NewReader(text), func(o object) error {
		o.at = outer.at + "." + o.at
		records = d.append(ctx, records, o, depth)
		return nil
	})
	if err != nil {
		records = append(records, record{at: outer.at, err: err})
	}
	return records
}
