// Package doctor judges a node before a kubelet does: named checks on facts
// that were read once, each with what the kubelet would say and the command
// that mends it, and a walk through the kubelet's start that stops where it
// would.
//
//	facts, err := doctor.Read(ctx, doctor.Options{Root: "/", Config: config, Driver: "systemd", CgroupVersion: 2})
//	for _, r := range doctor.Run(facts, doctor.Checks()) {
//		fmt.Println(r.ID, r.Status, r.Message)
//	}
package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// Status is a check's verdict.
type Status string

// The verdicts. Fail is what keeps the kubelet from starting or breaks the
// promise of its configuration, Warn what will surprise, Skip what the facts do
// not tell.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
	Skip Status = "skip"
)

// Result is what a check found.
type Result struct {
	ID     string `json:"id"`
	Status Status `json:"status"`
	// Message is one sentence; where the kubelet has words for it, its words.
	Message string `json:"message"`
	// Fix is the command or the lines that mend it; empty where nothing is wrong.
	Fix string `json:"fix,omitempty"`
	// Evidence is what the verdict rests on, file by file.
	Evidence []string `json:"evidence,omitempty"`
}

// Check is one thing to look at.
type Check struct {
	ID string
	// Title says in one line what is looked at.
	Title string
	// Explain says why it matters, and which rule stands behind it.
	Explain string
	run     func(*Facts) Result
}

// Checks are all checks, in the order in which the kubelet's start meets what
// they look at, and then what goes wrong later.
func Checks() []Check {
	return slices.Concat(configChecks(), cgroupChecks(), stateChecks(), machineChecks(), runningChecks())
}

// UnknownCheckError is a name that no check has.
type UnknownCheckError string

func (e UnknownCheckError) Error() string { return fmt.Sprintf("no check is called %q", string(e)) }

// Choose keeps the checks named by only, all where it is empty, without those
// named by ignore. A name that no check has is an [UnknownCheckError].
func Choose(all []Check, only, ignore []string) ([]Check, error) {
	for _, id := range slices.Concat(only, ignore) {
		if !slices.ContainsFunc(all, func(c Check) bool { return c.ID == id }) {
			return nil, UnknownCheckError(id)
		}
	}
	var kept []Check
	for _, c := range all {
		if (len(only) == 0 || slices.Contains(only, c.ID)) && !slices.Contains(ignore, c.ID) {
			kept = append(kept, c)
		}
	}
	return kept, nil
}

// Run judges the facts by each check.
func Run(f *Facts, checks []Check) []Result {
	results := make([]Result, 0, len(checks))
	for _, c := range checks {
		r := c.run(f)
		r.ID = c.ID
		results = append(results, r)
	}
	return results
}

func ok(format string, args ...any) Result {
	return Result{Status: OK, Message: fmt.Sprintf(format, args...)}
}

func skip(format string, args ...any) Result {
	return Result{Status: Skip, Message: fmt.Sprintf(format, args...)}
}

// worst is the result of a check that looks at several things: the first of the
// worst kind speaks, all are evidence, and the fixes of that kind follow one
// another.
func worst(good Result, found []Result) Result {
	if len(found) == 0 {
		return good
	}
	result := found[0]
	for _, r := range found {
		if r.Status == Fail && result.Status != Fail {
			result = r
		}
	}
	worstOf := result.Status
	result.Evidence = slices.Clone(result.Evidence)
	var fixes []string
	for _, r := range found {
		if r.Message != result.Message {
			result.Evidence = append(append(result.Evidence, r.Message), r.Evidence...)
		}
		if r.Status == worstOf && r.Fix != "" && !slices.Contains(fixes, r.Fix) {
			fixes = append(fixes, r.Fix)
		}
	}
	result.Fix = strings.Join(fixes, "\n")
	return result
}
