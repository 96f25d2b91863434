package cli

import (
	"errors"
	"fmt"

	"github.com/kqos/kqos/internal/simulate"
)

// fit answers --fit for the last pod, on the node as the events left it.
func fit(n *simulate.Node, result *simulate.Result, events []simulate.Event) error {
	if len(events) == 0 {
		return errors.New("--fit: there is no pod to try")
	}
	if result.Events[len(result.Events)-1].Panic != "" {
		return errors.New("--fit: the kubelet crashes before the last pod")
	}
	f := n.Fit(events[len(events)-1].Pod)
	result.Fit = &f
	return nil
}

// fitText answers --fit in words.
func fitText(f *simulate.Fit) string {
	if f == nil {
		return ""
	}
	times := fmt.Sprintf("%s fits %d more times", f.Pod, f.More)
	switch f.More {
	case 0:
		times = f.Pod + " does not fit once more"
	case 1:
		times = f.Pod + " fits once more"
	}
	return fmt.Sprintf("%s. The next copy is refused:\n  %s: %s\n  %s\n", times, or(f.Reason, "crash"), f.Message, f.Why)
}
