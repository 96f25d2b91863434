package manifest

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// told is what a stream yields, in words.
type told struct{ Pods, Warnings, Errors []string }

func tell(in *Input) told {
	var t told
	for _, w := range in.Workloads {
		t.Pods = append(t.Pods, w.Source.Kind+" "+w.Source.Name)
	}
	for _, p := range in.Warnings {
		t.Warnings = append(t.Warnings, p.Error())
	}
	for _, p := range in.Errors {
		t.Errors = append(t.Errors, p.Error())
	}
	return t
}

const pod = `apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: app
`

func jsonPod(name string) string {
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `"},"spec":{"containers":[{"name":"app"}]}}`
}

func utf16Text(s string, big bool) string {
	var b strings.Builder
	for _, u := range append([]uint16{0xfeff}, utf16.Encode([]rune(s))...) {
		if big {
			b.Write([]byte{byte(u >> 8), byte(u)})
		} else {
			b.Write([]byte{byte(u), byte(u >> 8)})
		}
	}
	return b.String()
}

func TestDecodeForms(t *testing.T) {
	web := told{Pods: []string{"Pod web"}}
	two := told{Pods: []string{"Pod a", "Pod b"}}
	littleEndian := `UTF-16 in little-endian order: kubectl stops with "incomplete UTF-16 character"; save it as UTF-8 (iconv -f UTF-16 -t UTF-8), or give --static if it is a static pod`
	for name, c := range map[string]struct {
		text string
		want told
	}{
		"YAML":                {pod, web},
		"byte order mark":     {"\ufeff" + pod, web},
		"mark before JSON":    {"\ufeff" + jsonPod("web"), web},
		"CRLF":                {strings.ReplaceAll("---\n"+pod+"---\n", "\n", "\r\n"), web},
		"UTF-16":              {utf16Text(pod, true), web},
		"UTF-16 swapped":      {utf16Text(pod, false), told{Errors: []string{"f: document 1: " + littleEndian}}},
		"empty":               {"", told{}},
		"comments and blanks": {"# a\n---\n\n---\n# b\nnull\n---\n", told{}},
		"NDJSON":              {jsonPod("a") + "\n" + jsonPod("b") + "\n", two},
		"JSON then YAML":      {jsonPod("a") + "\n---\n" + strings.Replace(pod, "web", "b", 1), two},
		"flow YAML":           {"{apiVersion: v1, kind: Pod, metadata: {name: web}}", web},
		"text after end mark": {pod + "...\n" + pod, web},
		"List":                {`{"kind":"List","apiVersion":"v1","items":[` + jsonPod("a") + "," + jsonPod("b") + `]}`, two},
		"typed list":          {`{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`, two},
		"List in List":        {"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items: [" + jsonPod("a") + "," + jsonPod("b") + "]\n", two},
		"anchors and merge":   {"apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - &c {name: a, image: i}\n  - <<: *c\n    name: b\n", web},
		"repeated key": {
			strings.Replace(pod, "metadata:", "kind: Pod\nmetadata:", 1),
			told{Pods: web.Pods, Warnings: []string{`f: document 1: line 3: key "kind" stands twice, the last one counts`}},
		},
		"repeated key in JSON": {
			strings.Replace(jsonPod("web"), `"spec"`, `"spec":{},"spec"`, 1),
			told{Pods: web.Pods, Warnings: []string{"f: document 1: spec: stands twice, the last one counts"}},
		},
		"unknown field": {
			pod + "    limits: {cpu: 1}\n",
			told{Pods: web.Pods, Warnings: []string{"f: document 1: spec.containers[0].limits: unknown field, dropped as the API server does"}},
		},
		"wrong case is unknown": {
			pod + "    Image: x\n",
			told{Pods: web.Pods, Warnings: []string{"f: document 1: spec.containers[0].Image: unknown field, dropped as the API server does"}},
		},
		"other kinds": {
			"apiVersion: v1\nkind: Service\n---\napiVersion: x/v1\nkind: Foo\n---\napiVersion: v1\nkind: Service\n---\n" + pod,
			told{Pods: web.Pods, Warnings: []string{"f: passed over, holding no pod that kqos reads: Foo, 2 Service"}},
		},
		"wrong version": {
			"apiVersion: v2\nkind: Pod\n",
			told{Warnings: []string{"f: document 1: kind Pod is read in v1, not in v2, passed over"}},
		},
		"bad document between": {
			pod + "---\na: [\n---\n" + pod,
			told{Pods: []string{"Pod web", "Pod web"}, Errors: []string{"f: document 2: yaml: line 1: did not find expected node content"}},
		},
		"bad quantity": {
			pod + "    resources: {limits: {cpu: 1x}}\n",
			told{Errors: []string{"f: document 1: spec.containers[0].resources.limits.cpu: \"1x\": quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$': write a quantity such as 500m or 128Mi"}},
		},
		"wrong type": {
			pod + "    ports: http\n",
			told{Errors: []string{"f: document 1: spec.containers[0].ports: is text, must be a list"}},
		},
		"wrong type in an embedded struct": {
			pod + "    livenessProbe: {httpGet: {path: 1}}\n",
			told{Errors: []string{"f: document 1: spec.containers[0].livenessProbe.httpGet.path: is a number, must be text (in quotes where it looks like a number or a boolean)"}},
		},
		"wrong type in an item": {
			`{"kind":"List","apiVersion":"v1","items":[` + jsonPod("web") + `,{"kind":"Pod","apiVersion":"v1","spec":[]}]}`,
			told{Pods: web.Pods, Errors: []string{"f: document 1: items[1].spec: is a list, must be a mapping"}},
		},
		"no kind":    {"apiVersion: v1\n", told{Errors: []string{"f: document 1: kind: is missing: say what the object is, such as Pod"}}},
		"no version": {"kind: Pod\n", told{Errors: []string{"f: document 1: apiVersion: is missing: kind Pod is in v1 or an API group"}}},
		"a list":     {"- a\n", told{Errors: []string{"f: document 1: is no object: a manifest is a mapping with apiVersion and kind"}}},
		"binary":     {"\x7fELF\x00\x01", told{Errors: []string{"f: document 1: binary data (a zero byte at offset 4), neither YAML nor JSON"}}},
		"template among values": {
			"apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Name }}\n",
			told{Errors: []string{"f: document 1: yaml: a mapping or list stands where a key must, such as {{ }} outside quotes (it looks like a template: render it first, as helm template does)"}},
		},
		"aliases that repeat": {
			"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n",
			told{Errors: []string{"f: document 1: yaml: document contains excessive aliasing: write out what the aliases repeat, or render it to JSON"}},
		},
		"template": {
			"{{- if .Values.x }}\napiVersion: v1\n{{ end }}\n",
			told{Errors: []string{"f: document 1: json: offset 2: invalid character '{' looking for beginning of object key string (it looks like a template: render it first, as helm template does)"}},
		},
		"third JSON value is broken": {
			jsonPod("a") + jsonPod("b") + `{"a" 1}` + jsonPod("c"),
			told{Pods: two.Pods, Errors: []string{"f: document 3: json: offset 6: invalid character '1' after object key"}},
		},
		"JSON cut off": {
			jsonPod("a")[:40],
			told{Errors: []string{"f: document 1: unexpected EOF"}},
		},
		"separator with text": {
			pod + "--- x\n" + pod,
			told{Pods: web.Pods, Errors: []string{"f: document 1: invalid Yaml document separator: x"}},
		},
	} {
		if diff := cmp.Diff(c.want, tell(decodeAll("f", []byte(c.text), Options{}))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func decodeAll(file string, data []byte, o Options) *Input {
	return newStream(scan(file, data, o)).all()
}
