// Package simulate is a kubelet's four managers on one machine: a Node admits,
// removes and restarts as the kubelet does, and a Scenario is a list of such
// events. It is pure; checkpoint files come and go as text.
//
//	n, err := simulate.NewNode(simulate.Spec{Config: cfg, Machine: m}, nil)
//	a := n.Add(pod)
//	fmt.Println(a.Verdict.Admitted, a.Containers[0].CPUs, a.Containers[0].Mems)
package simulate
