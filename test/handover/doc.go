// Package handover runs a real kubelet with containerd and runc beside kqos, in
// machines of test/e2e/vm: once kqos makes the tree of cgroups and the kubelet
// takes it over, once the kubelet makes it and kqos finds nothing to change.
//
//	make handover
package handover
