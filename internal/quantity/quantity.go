// Package quantity parses Kubernetes quantities of text that nobody checked, and
// counts and prints amounts. The parser of apimachinery computes 10^e for the
// exponent of the text: a few bytes such as 1e999999999 keep it busy for hours and
// take all memory.
//
//	q, err := quantity.Parse("1e999999999") // an error, at once
package quantity

import (
	"errors"
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	// maxLength bounds the text in bytes; int64 has 19 digits, and what lies
	// below a nano unit is rounded up.
	maxLength = 1024
	// maxExponentDigits bounds the exponent to ±9999, computed in 0.1 ms and far
	// beyond the ±18 that the units reach.
	maxExponentDigits = 4
)

var errEndless = errors.New("too many digits to be computed: write a quantity such as 500m or 128Mi")

// Parse is resource.ParseQuantity for any text.
func Parse(text string) (resource.Quantity, error) {
	if err := Check(text); err != nil {
		return resource.Quantity{}, err
	}
	return resource.ParseQuantity(text)
}

// BeyondInt64 tells whether an amount of a resource can't be counted as the
// kubelet counts: cpu in thousandths, all else in units, in int64.
func BeyondInt64(name corev1.ResourceName, q resource.Quantity) bool {
	if name == corev1.ResourceCPU {
		return q.CmpInt64(math.MaxInt64/1000) > 0
	}
	return q.CmpInt64(math.MaxInt64) > 0
}

// Check returns an error for a text that resource.ParseQuantity would not get
// done with; any other text, quantity or not, passes.
func Check(text string) error {
	if len(text) > maxLength {
		return fmt.Errorf("%.12s…: %w", text, errEndless)
	}
	i := strings.IndexAny(text, "eE")
	if i < 0 {
		return nil
	}
	exponent := strings.TrimLeft(strings.TrimLeft(text[i+1:], "+-"), "0")
	if len(exponent) > maxExponentDigits && strings.Trim(exponent, "0123456789") == "" {
		return fmt.Errorf("%s: %w", text, errEndless)
	}
	return nil
}
