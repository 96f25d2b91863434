// Package topologymanager decides, as the kubelet's topology manager does,
// whether a pod is admitted and which NUMA nodes its containers shall use: it
// asks the providers for hints, merges them under a policy and lets the
// providers allocate.
//
//	m, err := topologymanager.New(topologymanager.Config{Policy: kubelet.TopologyPolicyRestricted, Scope: kubelet.TopologyScopePod, Nodes: nodes})
//	m.Providers = []topologymanager.Provider{devices, cpus, memory}
//	verdict := m.Admit(pod)
//	fmt.Println(verdict.Admitted, verdict.Reason, verdict.Message)
package topologymanager
