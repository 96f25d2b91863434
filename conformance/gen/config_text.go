package gen

import (
	"fmt"
	"regexp"
	"strings"

	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// ConfigText generates files as people write them: YAML with comments, several
// documents, anchors, repeated keys, scalars in all notations, and what is
// almost YAML or JSON.
func ConfigText(max int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		doc := Config(max).Draw(t, "document")
		head(t, doc)
		if rapid.IntRange(0, 4).Draw(t, "as JSON") == 0 {
			return around(t, oddJSON(t, string(doc.JSON())))
		}
		text, err := yaml.JSONToYAML(doc.JSON())
		if err != nil {
			panic(err) // JSON is always YAML
		}
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		for range rapid.IntRange(0, 3).Draw(t, "oddities") {
			lines = oddLine(t, lines)
		}
		return around(t, strings.Join(lines, "\n")+"\n")
	})
}

// head changes what the document says it is.
func head(t *rapid.T, doc Document) {
	switch rapid.IntRange(0, 39).Draw(t, "head") {
	case 0:
		delete(doc, "kind")
	case 1:
		delete(doc, "apiVersion")
	case 2:
		doc["apiVersion"] = rapid.SampledFrom([]any{"kubelet.config.k8s.io/v1", "kubelet.config.k8s.io/v1alpha1", "v1beta1", "", 1, nil, "kubelet.config.k8s.io/v1beta1 "}).Draw(t, "version")
	case 3:
		doc["kind"] = rapid.SampledFrom([]any{"kubeletConfiguration", "CredentialProviderConfig", "SerializedNodeConfigSource", "Pod", "", nil, true}).Draw(t, "kind")
	}
}

// scalar matches a line that gives a key a plain value.
var scalar = regexp.MustCompile(`^(\s*(?:- )?[A-Za-z.0-9/_-]+: )([^{}\[\]|>&*!'"].*)$`)

func scalars() []string {
	return []string{
		"yes", "no", "on", "off", "True", "TRUE", "False", "~", "null", "Null", "", `""`, "''", "0x10", "0o17", "017", "1_000", "110.0", "1e2", "1.5",
		".inf", "-.inf", ".nan", "+5", "-0", "1e400", "99999999999999999999", "!!str 5", `!!int "7"`, `!!binary aGk=`, "2026-01-02", "1:30", "5s # why",
		`"5s"`, "'true'", "|\n  text", ">-\n  folded", "[]", "{}", "[1, 2]", "{a: b}", "*none", "&x 5", "\t5", "a: b", "@x", "%x", "`x`", "- 5", "\"\\u0041\"", "5s, 6s",
	}
}

// oddLine changes a line, or adds one.
func oddLine(t *rapid.T, lines []string) []string {
	i := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
	insert := func(line string) []string {
		return append(append(append([]string{}, lines[:i]...), line), lines[i:]...)
	}
	switch rapid.IntRange(0, 11).Draw(t, "oddity") {
	case 0:
		return insert("# a comment: {[")
	case 1:
		return insert("")
	case 2:
		return insert(lines[i]) // a key twice
	case 3:
		return insert(rapid.SampledFrom([]string{
			"maxPods: 5", "nope: 1", "maxpods: 5", "MaxPods: 5", "maxPods : 6", "? maxPods\n: 7", "\"maxPods\": 8", "<<: {maxPods: 9}", "evictionHard: {memory.available: 5%}",
			"featureGates:", "evictionHard: null", "authentication: {anonymous: {enabled: false, nope: 1}}", "maxPods: 5: 6", "true: 1", "1: 2", "null: 3", "[a]: 4",
		}).Draw(t, "inserted"))
	case 4:
		lines[i] += rapid.SampledFrom([]string{" ", "\t", " # why", "\r", ",", " &a", ":", "  \t "}).Draw(t, "appended")
	case 5:
		lines[i] = rapid.SampledFrom([]string{" ", "\t", "  ", "- ", "#"}).Draw(t, "indented") + lines[i]
	case 6:
		if key, rest, ok := strings.Cut(lines[i], ":"); ok {
			lines[i] = strings.ToLower(key) + ":" + rest
		}
	default:
		if m := scalar.FindStringSubmatch(lines[i]); m != nil {
			lines[i] = m[1] + rapid.SampledFrom(scalars()).Draw(t, "scalar")
		}
	}
	return lines
}

func oddJSON(t *rapid.T, text string) string {
	switch rapid.IntRange(0, 7).Draw(t, "odd JSON") {
	case 0:
		return strings.TrimSuffix(text, "}") + ",}"
	case 1:
		return text + rapid.SampledFrom([]string{"}", "{}", "\n\n", "x", " // why", "\x00", "[]"}).Draw(t, "after")
	case 2:
		return strings.Replace(text, `"`, "'", 2)
	case 3:
		return strings.TrimSuffix(text, "}") + `,"maxPods":5,"maxPods":6,"MAXPODS":7}`
	case 4:
		return text[:rapid.IntRange(0, len(text)).Draw(t, "cut")]
	case 5:
		return fmt.Sprintf("[%s]", text)
	}
	return text
}

// around puts other things around the document.
func around(t *rapid.T, text string) string {
	switch rapid.IntRange(0, 29).Draw(t, "around") {
	case 0:
		return "---\n" + text
	case 1:
		return "\xef\xbb\xbf" + text
	case 2:
		return text + "---\n" + rapid.SampledFrom([]string{"", "kind: Pod\n", "maxPods: 3\n", text}).Draw(t, "second")
	case 3:
		return "---\n---\n" + text
	case 4:
		return strings.ReplaceAll(text, "\n", "\r\n")
	case 5:
		return "# first\n" + text + "...\n"
	case 6:
		return "%YAML 1.1\n---\n" + text
	case 7:
		return "\n\n" + text + "\n\n"
	case 8:
		return "{}\n---\n" + text
	case 9:
		return text + "\x00"
	}
	return text
}
