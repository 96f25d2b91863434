package allocatable

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
)

// ReadQOSReserved parses qosReserved: how many percent of the requests of a
// class the tiers below it may not use. It acts only with the gate QOSReserved,
// but is parsed always.
//
// kubelet v1.37: cm/container_manager.go ParseQOSReserved.
func ReadQOSReserved(c *kubelet.Config) (map[corev1.ResourceName]int64, []kubelet.Finding) {
	reserved := map[corev1.ResourceName]int64{}
	var findings []kubelet.Finding
	for _, name := range slices.Sorted(maps.Keys(c.QOSReserved)) {
		percent, err := parseQOSReserved(name, c.QOSReserved[name])
		if err != nil {
			findings = append(findings, startFinding("qosReserved."+name, fmt.Errorf("--qos-reserved value failed to parse: %w", err)))
			continue
		}
		reserved[corev1.ResourceName(name)] = percent
	}
	return reserved, findings
}

func parseQOSReserved(name, text string) (int64, error) {
	if name != string(corev1.ResourceMemory) {
		return 0, fmt.Errorf("cannot reserve %q resource", name)
	}
	percent, err := parseWholePercentage(text)
	if err != nil {
		return 0, fmt.Errorf("failed to parse percentage %q for %q resource: %w", text, name, err)
	}
	return percent, nil
}

// parseWholePercentage reads percentages without fraction. Unlike those of
// thresholds they are exact.
func parseWholePercentage(text string) (int64, error) {
	if !strings.HasSuffix(text, "%") {
		return 0, fmt.Errorf("percentage expected, got '%s'", text)
	}
	percent, err := strconv.ParseInt(strings.TrimRight(text, "%"), 10, 0)
	if err != nil {
		return 0, fmt.Errorf("invalid number in percentage '%s'", text)
	}
	if percent < 0 || percent > 100 {
		return 0, errors.New("percentage must be between 0 and 100")
	}
	return percent, nil
}
