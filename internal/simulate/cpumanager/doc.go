// Package cpumanager gives containers CPUs of their own as the kubelet's CPU
// manager does: the same CPUs, the same hints for the topology manager and the
// same refusals, to the last CPU.
//
//	m, err := cpumanager.New(mach, cpumanager.Config{Policy: kubelet.CPUPolicyStatic, Reservation: resource.NewQuantity(2, resource.DecimalSI)})
//	err = m.Start(cpumanager.State{})
//	err = m.Allocate(pod, &pod.Spec.Containers[0], topologymanager.Hint{})
//	cpus, exclusive := m.CPUs(pod.UID, "app")
package cpumanager
