package kubelet

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	"sigs.k8s.io/yaml"
)

// document is a configuration found in a file.
type document struct {
	config *kubeletv1beta1.KubeletConfiguration
	// written are the top-level fields that the document sets.
	written map[string]bool
	// effective says that a running kubelet told this configuration: its
	// absent eviction thresholds are absent, not to be defaulted.
	effective bool
	warnings  []string
	// refused is what the kubelet says to the file as a whole.
	refused error
}

// findDocument picks the configuration of a file: the file's first document as
// the kubelet does, else what /configz answered, else the first document of the
// right kind among others.
func findDocument(data []byte) (*document, error) {
	if inner := configz(data); inner != nil {
		doc, err := newDocument(inner)
		if err != nil {
			return nil, fmt.Errorf("kubeletconfig of /configz: %w", err)
		}
		doc.effective = true
		return doc, nil
	}
	doc, err := newDocument(data)
	others := documents(data)
	if err == nil {
		if n := len(others); n > 1 {
			doc.warnings = append(doc.warnings, fmt.Sprintf("the kubelet reads the first of %d documents only", n))
		}
		return doc, nil
	}
	if len(others) < 2 {
		return nil, err
	}
	for i, other := range others {
		if kindOf(other) != configKind().Kind {
			continue
		}
		doc, inner := newDocument(other)
		if inner != nil {
			return nil, fmt.Errorf("document %d: %w", i+1, inner)
		}
		doc.refused = err
		doc.warnings = append(doc.warnings, fmt.Sprintf("document %d is used, but the kubelet reads the first document of a file: %v", i+1, err))
		return doc, nil
	}
	return nil, err
}

func newDocument(data []byte) (*document, error) {
	c, warning, err := decodeFile(data)
	if err != nil {
		return nil, err
	}
	doc := &document{config: c, written: map[string]bool{}}
	if warning != "" {
		doc.warnings = append(doc.warnings, warning)
	}
	asJSON, err := yaml.YAMLToJSON(data)
	if err != nil {
		return nil, err
	}
	return doc, topFields(doc.written, asJSON)
}

// configz takes the configuration out of the answer of the kubelet's /configz,
// {"kubeletconfig":{…}}, with apiVersion and kind, which older kubelets leave
// out; nil if the data is no such answer.
func configz(data []byte) []byte {
	if !bytes.Contains(data, []byte("kubeletconfig")) {
		return nil
	}
	var envelope struct {
		Kind   string                     `json:"kind"`
		Config map[string]json.RawMessage `json:"kubeletconfig"`
	}
	// The decoders tell what is wrong with data that cannot be read at all.
	if err := yaml.Unmarshal(data, &envelope); err != nil || envelope.Kind != "" || envelope.Config == nil {
		return nil
	}
	envelope.Config["apiVersion"] = json.RawMessage(`"` + configKind().GroupVersion().String() + `"`)
	envelope.Config["kind"] = json.RawMessage(`"` + configKind().Kind + `"`)
	inner, err := json.Marshal(envelope.Config)
	if err != nil {
		return nil
	}
	return inner
}

// documents splits a stream of YAML documents or JSON values, without those
// that hold nothing but comments. A stream that breaks off ends there.
func documents(data []byte) [][]byte {
	var docs [][]byte
	if utilyaml.IsJSONBuffer(data) {
		for d := json.NewDecoder(bytes.NewReader(data)); ; {
			var value json.RawMessage
			if err := d.Decode(&value); err != nil {
				return docs
			}
			docs = append(docs, value)
		}
	}
	for r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data))); ; {
		doc, err := r.Read()
		if len(doc) > 0 {
			docs = append(docs, doc)
		}
		if err != nil {
			break
		}
	}
	if len(docs) < 2 {
		return docs
	}
	return slices.DeleteFunc(docs, func(doc []byte) bool {
		content, _ := yaml.YAMLToJSON(doc)
		return string(content) == "null"
	})
}

func kindOf(doc []byte) string {
	var meta struct {
		Kind string `json:"kind"`
	}
	// A document that cannot be read is of no kind.
	_ = yaml.Unmarshal(doc, &meta)
	return meta.Kind
}
