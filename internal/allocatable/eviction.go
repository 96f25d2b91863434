package allocatable

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/quantity"
)

// The two signals whose hard thresholds are kept from pods.
const (
	signalMemory = "memory.available"
	signalNodeFs = "nodefs.available"
)

// evictionSignals are all that a threshold may name.
//
// kubelet v1.37: pkg/kubelet/eviction/helpers.go signalToResource.
func evictionSignals() []string {
	return []string{
		signalMemory, signalNodeFs, "allocatableMemory.available", "nodefs.inodesFree", "imagefs.available",
		"imagefs.inodesFree", "containerfs.available", "containerfs.inodesFree", "pid.available",
	}
}

// Threshold is a hard eviction threshold: an amount, or a part of the capacity.
type Threshold struct {
	Signal string
	// Text is the threshold as written.
	Text string
	// Quantity is nil for a percentage.
	Quantity *resource.Quantity
	// Percentage is the part of the capacity, 0 to 1, or NaN. It is kept in
	// single precision, which makes 10% of 100Gi 40 bytes more than a tenth.
	Percentage float32
}

// Amount is the threshold in the unit of its resource.
//
// kubelet v1.37: pkg/kubelet/eviction/api GetThresholdQuantity.
func (t Threshold) Amount(capacity resource.Quantity) resource.Quantity {
	if t.Quantity != nil {
		return t.Quantity.DeepCopy()
	}
	return *resource.NewQuantity(truncate(float64(capacity.Value())*float64(t.Percentage)), resource.BinarySI)
}

// truncate converts as the amd64 instruction does: what has no int64 becomes
// the smallest one. Go leaves that to the architecture.
func truncate(f float64) int64 {
	if math.IsNaN(f) || f >= math.MaxInt64 || f < math.MinInt64 {
		return math.MinInt64
	}
	return int64(f)
}

// Resource is what a signal's threshold is kept of; empty for a signal that
// keeps nothing from pods.
//
// kubelet v1.37: cm/helpers.go hardEvictionReservation.
func (t Threshold) Resource() corev1.ResourceName {
	switch t.Signal {
	case signalMemory:
		return corev1.ResourceMemory
	case signalNodeFs:
		return corev1.ResourceEphemeralStorage
	}
	return ""
}

// ReadThresholds parses evictionHard. The texts 0% and 100% mean no threshold.
//
// kubelet v1.37: pkg/kubelet/eviction/helpers.go parseThresholdStatements.
func ReadThresholds(c *kubelet.Config) ([]Threshold, []kubelet.Finding) {
	return readThresholds("evictionHard", c.EvictionHard)
}

func readThresholds(field string, statements map[string]string) (thresholds []Threshold, findings []kubelet.Finding) {
	for _, signal := range slices.Sorted(maps.Keys(statements)) {
		t, err := parseThreshold(signal, statements[signal])
		switch {
		case err != nil:
			findings = append(findings, startFinding(field+"."+signal, err))
		case t != nil:
			thresholds = append(thresholds, *t)
		}
	}
	return thresholds, findings
}

func parseThreshold(signal, text string) (*Threshold, error) {
	if !slices.Contains(evictionSignals(), signal) {
		return nil, fmt.Errorf("unsupported eviction signal %v", signal)
	}
	if text == "0%" || text == "100%" {
		return nil, nil
	}
	if strings.HasSuffix(text, "%") {
		p, err := parsePercentage(text)
		switch {
		case err != nil:
			return nil, err
		// Both comparisons let NaN pass, as the kubelet's do.
		case p < 0:
			return nil, fmt.Errorf("eviction percentage threshold %v must be >= 0%%: %s", signal, text)
		case p > 1:
			return nil, fmt.Errorf("eviction percentage threshold %v must be <= 100%%: %s", signal, text)
		}
		return &Threshold{Signal: signal, Text: text, Percentage: p}, nil
	}
	q, err := quantity.Parse(text)
	if err != nil {
		return nil, err
	}
	if q.Sign() <= 0 {
		return nil, fmt.Errorf("eviction threshold %v must be positive: %s", signal, &q)
	}
	return &Threshold{Signal: signal, Text: text, Quantity: &q}, nil
}

// parsePercentage reads "12.5%" as 0.125, in single precision throughout.
func parsePercentage(text string) (float32, error) {
	value, err := strconv.ParseFloat(strings.TrimRight(text, "%"), 32)
	if err != nil {
		return 0, err
	}
	return float32(value) / 100, nil
}

// checkEviction finds what the eviction manager refuses besides evictionHard.
//
// kubelet v1.37: pkg/kubelet/eviction/helpers.go ParseThresholdConfig.
func checkEviction(c *kubelet.Config) []kubelet.Finding {
	soft, findings := readThresholds("evictionSoft", c.EvictionSoft)
	periods, minimum := c.EvictionSoftGracePeriod, c.EvictionMinimumReclaim
	for _, signal := range slices.Sorted(maps.Keys(periods)) {
		if err := checkGracePeriod(signal, periods[signal]); err != nil {
			findings = append(findings, startFinding("evictionSoftGracePeriod."+signal, err))
		}
	}
	for _, signal := range slices.Sorted(maps.Keys(minimum)) {
		if err := checkMinimumReclaim(signal, minimum[signal]); err != nil {
			findings = append(findings, startFinding("evictionMinimumReclaim."+signal, err))
		}
	}
	for _, t := range soft {
		if _, ok := periods[t.Signal]; !ok {
			findings = append(findings, startFinding("evictionSoftGracePeriod."+t.Signal,
				fmt.Errorf("grace period must be specified for the soft eviction threshold %v", t.Signal)))
		}
	}
	return findings
}

func checkGracePeriod(signal, text string) error {
	if !slices.Contains(evictionSignals(), signal) {
		return fmt.Errorf("unsupported eviction signal %v", signal)
	}
	period, err := time.ParseDuration(text)
	if err == nil && period < 0 {
		return fmt.Errorf("invalid eviction grace period specified: %v, must be a positive value", text)
	}
	return err
}

func checkMinimumReclaim(signal, text string) error {
	if !slices.Contains(evictionSignals(), signal) {
		return fmt.Errorf("unsupported eviction signal %v", signal)
	}
	if strings.HasSuffix(text, "%") {
		p, err := parsePercentage(text)
		if err == nil && p <= 0 {
			return fmt.Errorf("eviction percentage minimum reclaim %v must be positive: %s", signal, text)
		}
		return err
	}
	q, err := quantity.Parse(text)
	if err == nil && q.Sign() < 0 {
		return fmt.Errorf("negative eviction minimum reclaim specified for %v", signal)
	}
	return err
}
