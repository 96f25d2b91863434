package inspect

import "time"

// Sample is the CPU time that cgroups had used at one time, to take rates from.
type Sample struct {
	at     map[string]reading
	uptime string
}

type reading struct {
	when time.Time
	cpu  time.Duration
}

// Empty tells a sample that was never taken.
func (s Sample) Empty() bool { return len(s.at) == 0 }

// Sample reads the CPU time of cgroups.
func (h *Hierarchy) Sample(root string, paths []string) Sample {
	s := Sample{at: make(map[string]reading, len(paths)), uptime: uptime(root)}
	for _, path := range paths {
		if cpu := h.cpu(path); cpu != nil {
			s.at[path] = reading{time.Now(), *cpu}
		}
	}
	return s
}

// moved tells whether time went on since a sample: below a captured root it
// stands still.
func (s Sample) moved(before Sample) bool { return s.uptime != "" && s.uptime != before.uptime }

// rate is the share of one CPU that a cgroup used between a sample and now; nil
// where the sample does not know it.
func (s Sample) rate(path string, now reading) *float64 {
	before, ok := s.at[path]
	elapsed := now.when.Sub(before.when)
	if !ok || elapsed <= 0 || now.cpu < before.cpu {
		return nil
	}
	rate := float64(now.cpu-before.cpu) / float64(elapsed)
	return &rate
}

// uptime is empty below a root that is no live host's.
func uptime(root string) string {
	text, err := readFile(root + "/proc/uptime")
	if err != nil {
		return ""
	}
	return string(text)
}
