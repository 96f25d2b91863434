package manifest

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// FuzzDecode looks for panics, and for a stream that yields nothing and says
// nothing.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		pod, jsonPod("a") + jsonPod("b"), "---\n---\n# c\n", "a: &a [*a]\n", "{{ x }}", `{"kind":"List","apiVersion":"v1","items":[{}]}`,
		"apiVersion: v1\nkind: Pod\nspec: {containers: [{resources: {limits: {cpu: 1e400, memory: -1}}}]}\n", utf16Text(pod, true),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := decodeAll("f", data, Options{})
		for _, w := range in.Workloads {
			if w.Pod == nil || w.Source.Document < 1 {
				t.Errorf("workload without pod or document: %+v", w)
			}
		}
		for _, p := range in.Errors {
			if p.Message == "" {
				t.Errorf("an error that says nothing: %+v", p)
			}
		}
	})
}

// FuzzScanObject holds the quick scanner against the JSON decoder: whatever is
// valid JSON it must take apart alike.
func FuzzScanObject(f *testing.F) {
	for _, s := range []string{`{"kind":"Pod","items":[1,{"a":"]"}]}`, `{"a":"\"}","b":{}} `, `{}`, `{"kind":1,"kind":"x"}`, `{"a":[[],[{}]],"n":-1.5e3,"t":true}x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		end, h, ok := scanObject(data)
		value, err := firstValue(data)
		if err != nil || len(data) == 0 || data[0] != '{' {
			return
		}
		if !ok || end != len(value) {
			t.Fatalf("object of %d bytes, found %d, %v", len(value), end, ok)
		}
		var members map[string]json.RawMessage
		var want []json.RawMessage
		if json.Unmarshal(value, &members) != nil || json.Unmarshal(members["items"], &want) != nil || want == nil {
			return
		}
		if list, ok := elements(h.items); !ok || len(list) != len(want) {
			t.Errorf("%d elements (%v), want %d", len(list), ok, len(want))
		}
	})
}

// FuzzQuantity decodes any text as a quantity within a pod: it is read as the
// API reads it, or refused with its path.
func FuzzQuantity(f *testing.F) {
	for _, s := range []string{"1", "500m", "1Gi", "-1", "1e3", "9223372036854775808", "0.5", "1n", "", " 1", "1E400"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		in := decodeAll("f", []byte(`{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"resources":{"limits":{"cpu":`+string(quoted)+`}}}]}}`), Options{})
		var q resource.Quantity
		if err := q.UnmarshalJSON(quoted); (err == nil) != (len(in.Workloads) == 1) {
			t.Errorf("%q: apimachinery says %v, kqos %v", s, err, tell(in))
		}
		for _, p := range in.Errors {
			if p.Path != "spec.containers[0].resources.limits.cpu" {
				t.Errorf("%q: told at %q", s, p.Path)
			}
		}
	})
}
