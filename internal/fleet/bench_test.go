package fleet

import (
	"bytes"
	"encoding/json"
	"runtime"
	"testing"

	"github.com/kqos/kqos/test/cluster/made"
)

// madeList is a cluster of objects of real size.
func madeList(tb testing.TB, c made.Cluster) []byte {
	tb.Helper()
	var text bytes.Buffer
	if err := c.Write(&text); err != nil {
		tb.Fatal(err)
	}
	return text.Bytes()
}

// BenchmarkRead reads a list, as fleet does and item by item with the decoder of
// encoding/json, which keeps of each only its text.
func BenchmarkRead(b *testing.B) {
	text := madeList(b, made.Cluster{Nodes: 100, Pods: 3000})
	b.Run("by=fleet", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			c := New(Options{})
			if err := c.Read(b.Context(), bytes.NewReader(text)); err != nil {
				b.Fatal(err)
			}
			if r := c.Report(b.Context()); len(r.Nodes) != 100 || r.Input.Pods != 3000 || len(r.Input.Problems) != 0 {
				b.Fatalf("%+v", r.Input)
			}
		}
	})
	b.Run("by=decoder", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			d := json.NewDecoder(bytes.NewReader(text))
			for token := json.Token(nil); token != "items"; {
				var err error
				if token, err = d.Token(); err != nil {
					b.Fatal(err)
				}
			}
			if _, err := d.Token(); err != nil {
				b.Fatal(err)
			}
			for d.More() {
				var item json.RawMessage
				if err := d.Decode(&item); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// TestMemory holds what is kept of a pod, of 8 kB in the list, to what it takes
// to know its name again.
func TestMemory(t *testing.T) {
	kept := func(pods int) int {
		c := New(Options{})
		if err := c.Read(t.Context(), bytes.NewReader(madeList(t, made.Cluster{Nodes: 100, Pods: pods}))); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		runtime.KeepAlive(c)
		return int(m.HeapAlloc)
	}
	kept(300) // what is made once
	few, many := kept(300), kept(3000)
	if each := (many - few) / 2700; each > 200 {
		t.Errorf("%d bytes are kept of 300 pods, %d of 3000: %d each", few, many, each)
	}
}
