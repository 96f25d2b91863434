package quantity

import (
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Bytes prints an amount of bytes for people, to about three digits in the
// largest binary unit that fits: 62.8Gi. Whole units have no fraction.
func Bytes(q resource.Quantity) string {
	value := q.AsApproximateFloat64()
	sign := ""
	if value < 0 {
		sign, value = "-", -value
	}
	units := []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
	i := 0
	for value >= 1024 && i < len(units)-1 {
		value /= 1024
		i++
	}
	digits := 0
	switch {
	case i == 0 || value == float64(int64(value)):
	case value < 10:
		digits = 2
	case value < 100:
		digits = 1
	}
	return sign + strconv.FormatFloat(value, 'f', digits, 64) + units[i]
}
