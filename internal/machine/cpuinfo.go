package machine

import (
	"regexp"
	"strconv"
	"strings"
)

// cpuinfo is what is read of /proc/cpuinfo.
type cpuinfo struct {
	text  string
	s390x bool
}

func (t tree) cpuinfo() cpuinfo {
	text, err := t.procText("cpuinfo")
	if err != nil {
		return cpuinfo{}
	}
	return cpuinfo{text: text, s390x: strings.Contains(text, "IBM/S390")}
}

// sockets is how many sockets cAdvisor counts: the distinct physical ids of
// /proc/cpuinfo, else those of the online CPUs in /sys.
// cAdvisor lib v0.60: machine/machine.go GetSockets
func (c cpuinfo) sockets(t tree) int {
	ids := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^physical id\s*:\s*([0-9]+)$`).FindAllString(c.text, -1) {
		ids[match] = true
	}
	if len(ids) > 0 {
		return len(ids)
	}
	online, err := t.list(cpuDir, "online")
	if err != nil {
		return 0
	}
	isOnline := map[int]bool{}
	for _, id := range online {
		isOnline[id] = true
	}
	for _, cpu := range t.numbered("cpu", cpuDir) {
		if !isOnline[cpu.id] && t.has(cpuDir, "online") {
			continue
		}
		id, err := t.text(cpuDir, cpu.name, "topology", "physical_package_id")
		if err != nil {
			id = "0" // as cAdvisor takes it
		}
		ids[id] = true
	}
	return len(ids)
}

// cpus makes CPUs of /proc/cpuinfo alone, for where /sys is masked.
func (c cpuinfo) cpus() map[int]*hardwareCPU {
	cpus := map[int]*hardwareCPU{}
	var at *hardwareCPU
	for line := range strings.Lines(c.text) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 16)
		if err != nil {
			continue
		}
		switch key := strings.TrimSpace(key); {
		case key == "processor":
			at = &hardwareCPU{online: true, core: int(n), die: unknown}
			cpus[int(n)] = at
		case at != nil && key == "core id":
			at.core = int(n)
		case at != nil && key == "physical id":
			at.socket = int(n)
		}
	}
	return cpus
}
