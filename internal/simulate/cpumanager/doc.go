// Package cpumanager gives containers CPUs of their own as the kubelet's CPU
// manager does: the same CPUs, the same hints for the topology manager and the
// same refusals, to the last CPU.
//
//	m, err := cpumanager.New(node, cpumanager.Config{Policy: "static", Reservation: resource.MustParse("2")})
//	err = m.Start(cpumanager.State{})
//	err = m.Allocate(pod, &pod.Spec.Containers[0], topologymanager.Hint{})
//	cpus, exclusive := m.CPUs(pod.UID, "app")
package cpumanager
