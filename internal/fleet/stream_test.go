package fleet

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// told lists the objects of a stream as "place: kind name", and the error.
func told(t *testing.T, in io.Reader) []string {
	t.Helper()
	var out []string
	d := newDecoder()
	err := eachObject(in, func(o object) error {
		if o.err != nil {
			out = append(out, o.at+": "+o.err.Error())
			return nil
		}
		for _, r := range d.append(t.Context(), nil, o, 0) {
			if r.err != nil {
				out = append(out, r.at+": "+r.err.Error())
				continue
			}
			out = append(out, fmt.Sprintf("%s: %s %s", r.at, r.fields.Kind, r.fields.Metadata.Name))
		}
		return nil
	})
	if err != nil {
		out = append(out, err.Error())
	}
	return out
}

const (
	podA  = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`
	nodeN = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}`
)

func TestStream(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"nothing":     {" \n", nil},
		"kubectl":     {`{"apiVersion":"v1","items":[` + nodeN + `,` + podA + `],"kind":"List","metadata":{}}`, []string{"items[0]: Node n", "items[1]: Pod a"}},
		"empty list":  {`{"apiVersion":"v1","items":[],"kind":"List"}`, nil},
		"one object":  {nodeN, []string{"document 1: Node n"}},
		"rows":        {nodeN + "\n" + podA + "\n", []string{"document 1: Node n", "document 2: Pod a"}},
		"two lists":   {`{"items":[` + nodeN + `]} {"items":[` + podA + `]}`, []string{"items[0]: Node n", "items[0]: Pod a"}},
		"array":       {`[` + nodeN + `,` + podA + `]`, []string{"items[0]: Node n", "items[1]: Pod a"}},
		"typed list":  {`{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}`, []string{"items[0]: Pod a"}},
		"kind last":   {`{"items":[{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]}},{"metadata":{"name":"n"},"status":{"capacity":{"cpu":"1"}}}],"kind":"PodList"}`, []string{"items[0]: Pod a", "items[1]: Node n"}},
		"list within": {`{"items":[{"kind":"PodList","items":[{"metadata":{"name":"a"}}]}],"kind":"List"}`, []string{"items[0].items[0]: Pod a"}},
		"order mark":  {"\ufeff" + nodeN, []string{"document 1: Node n"}},
		"other kind":  {`{"kind":"Thing","metadata":{"name":"t"},"spec":{"containers":7}}`, []string{"document 1: Thing t"}},
		"no object":   {nodeN + ` 7 "x" null [7]`, []string{"document 1: Node n", "items[0]:  "}},
		"wrong type":  {`{"kind":"Pod","metadata":{"name":7,"namespace":"b"}}`, []string{"document 1: metadata.name: a JSON number where string is expected"}},
		"truncated": {
			`{"items":[` + nodeN + `,{"kind":"Pod","metad`,
			[]string{"items[0]: Node n", "document 1 ends after 1 object, in the middle of what follows: the list is truncated"},
		},
		"truncated between": {
			`{"items":[` + nodeN + `,`,
			[]string{"items[0]: Node n", "document 1 ends after 1 object, in the middle of what follows: the list is truncated"},
		},
		"broken item": {
			`{"items":[` + nodeN + `,{"kind" "Pod"}]}`,
			[]string{"items[0]: Node n", `document 1, after 1 object, byte 76: invalid character '"' after object name (expecting ':'); what follows is not read`},
		},
		"broken row": {
			nodeN + "\n{\"kind\" \"Pod\"}\n" + podA + "\n",
			[]string{"document 1: Node n", `document 2: document 2, after 0 objects, byte 66: invalid character '"' after object name (expecting ':'); what follows is not read`, "document 3: Pod a"},
		},
		"bad quantity": {
			`{"kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"resources":{"requests":{"cpu":"1e999999999"}}}]}}`,
			[]string{"document 1: spec.containers[0].resources.requests.cpu: 1e999999999: too many digits to be computed: write a quantity such as 500m or 128Mi"},
		},
		"yaml list":       {"apiVersion: v1\nitems:\n- kind: Node\n  metadata:\n    name: w\n- kind: Pod\n  metadata:\n    name: a\nkind: List\nmetadata: {}\n", []string{"items[0]: Node w", "items[1]: Pod a"}},
		"yaml deep":       {"items:\n  - kind: Node\n    metadata: {name: w}\n    args:\n      - -x\n  -\n    kind: Pod\nkind: List\n", []string{"items[0]: Node w", "items[1]: Pod "}},
		"yaml typed":      {"kind: PodList\nitems:\n- metadata: {name: a}\n", []string{"items[0]: Pod a"}},
		"yaml kind first": {"apiVersion: v1\nkind: List\nitems:\n- kind: Node\n  metadata: {name: w}\n", []string{"items[0]: Node w"}},
		"yaml rows":       {"---\nkind: Node\nmetadata: {name: w}\n---\n# nothing\n---\nkind: Pod\nmetadata: {name: a}\n", []string{"document 1: Node w", "document 3: Pod a"}},
		"yaml block":      {"items:\n- kind: Pod\n  metadata: {name: a}\n  text: |\n    - not an item\n    items:\n- kind: Node\nkind: List\n", []string{"items[0]: Pod a", "items[1]: Node "}},
		"yaml truncated": {
			"apiVersion: v1\nitems:\n- kind: Node\n  metadata: {name: w}\n- kind: Pod\n  metad",
			[]string{"items[0]: Node w", "document 1 ends after 1 object, in the middle of what follows: the list is truncated"},
		},
		"yaml nonsense": {"\x01", []string{"document 1: yaml: control characters are not allowed"}},
	} {
		t.Run(name, func(t *testing.T) {
			for kind, in := range map[string]io.Reader{"at once": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in))} {
				if d := cmp.Diff(c.want, told(t, in)); d != "" {
					t.Errorf("%s: -want +got:\n%s", kind, d)
				}
			}
		})
	}
}

// TestStreamLarge reads objects of 10 MB, and passes over one that would not end.
func TestStreamLarge(t *testing.T) {
	large := func(name string, size int) io.Reader {
		return io.MultiReader(strings.NewReader(`{"kind":"Pod","metadata":{"annotations":{"x":"`), io.LimitReader(endless{}, int64(size)), strings.NewReader(`"},"name":"`+name+`"}}`))
	}
	in := io.MultiReader(strings.NewReader(`{"items":[`), large("ten", 10<<20), strings.NewReader(","), large("huge", maxObject+5), strings.NewReader(","+nodeN+"]}"))
	want := []string{"items[0]: Pod ten", "items[1]: " + errTooLarge.Error(), "items[2]: Node n"}
	if d := cmp.Diff(want, told(t, in)); d != "" {
		t.Error("-want +got:\n" + d)
	}
	in = io.MultiReader(large("huge", maxObject+5), strings.NewReader(nodeN))
	want = []string{"document 1: " + errTooLarge.Error(), "document 2: Node n"}
	if d := cmp.Diff(want, told(t, in)); d != "" {
		t.Error("row: -want +got:\n" + d)
	}
	in = io.MultiReader(strings.NewReader("items:\n- kind: Pod\n  x: "), io.LimitReader(endless{}, maxObject+5), strings.NewReader("\n- kind: Node\nkind: List\n"))
	want = []string{"items[0]: " + errTooLarge.Error(), "items[1]: Node "}
	if d := cmp.Diff(want, told(t, in)); d != "" {
		t.Error("YAML: -want +got:\n" + d)
	}
}

// TestStreamBrokenRows goes on after each of many broken rows, and keeps nothing
// of those that are behind.
func TestStreamBrokenRows(t *testing.T) {
	const rows = 10000
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	text := strings.Repeat("{broken: row}\n", rows) + nodeN
	before, broken := heap(), 0
	err := eachObject(strings.NewReader(text), func(o object) error {
		if o.err != nil {
			broken++
			return nil
		}
		if kept := heap() - before; kept > 1<<20 {
			t.Errorf("%d bytes are kept after %d broken rows", kept, broken)
		}
		return nil
	})
	if err != nil || broken != rows {
		t.Errorf("%d of %d rows are broken, %v", broken, rows, err)
	}
	runtime.KeepAlive(text)
}

// endless is a text without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
