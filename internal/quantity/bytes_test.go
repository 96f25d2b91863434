package quantity

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

func TestBytes(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "1023": "1023", "1Ki": "1Ki", "67430264832": "62.8Gi", "8Gi": "8Gi", "-100Mi": "-100Mi",
		"1536Mi": "1.50Gi", "107374182400": "100Gi", "10737418400": "10.0Gi", "9223372036854775807": "8Ei",
		"400Gi": "400Gi", "429496729700": "400Gi",
	} {
		if got := Bytes(resource.MustParse(text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
