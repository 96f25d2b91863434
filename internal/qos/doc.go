// Package qos computes what the kubelet derives from a pod alone: its class and
// why it has no better one, its effective requests and limits, the OOM score of
// its containers, and which of them qualify for exclusive CPUs. It is pure.
//
//	class := qos.Class(pod, gates)           // Burstable
//	reasons := qos.Reasons(pod, gates)       // app: cpu has no limit; set limits.cpu to 500m
//	score := qos.OOMScoreAdj(pod, &pod.Spec.Containers[0], 8<<30, gates) // 938
package qos
