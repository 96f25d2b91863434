package kubelet

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"k8s.io/utils/cpuset"
)

// maxCPU is the highest number of a CPU: cAdvisor reads it with 16 bits.
// cAdvisor lib v0.60: utils/sysfs/sysfs.go isCPUOnline
const maxCPU = math.MaxUint16

// ParseCPUs reads the kernel's list format as the kubelet does, but refuses
// numbers that no machine has: the kubelet would fill its memory with the list
// 0-4000000000 before it looks at the machine.
func ParseCPUs(text string) (cpuset.CPUSet, error) {
	for number := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsDigit(r) }) {
		if id, err := strconv.Atoi(number); err != nil || id > maxCPU {
			return cpuset.New(), fmt.Errorf("CPU %s is on no machine: the highest number is %d", number, maxCPU)
		}
	}
	return cpuset.Parse(text)
}
