package kubelet

// Annotations by which the kubelet tells where a pod came from, and the value
// of SourceAnnotation for a pod of the API server.
//
// kubelet v1.37: pkg/kubelet/types/pod_update.go.
const (
	SourceAnnotation = "kubernetes.io/config.source"
	HashAnnotation   = "kubernetes.io/config.hash"
	MirrorAnnotation = "kubernetes.io/config.mirror"
	SourceAPI        = "api"
	SourceFile       = "file"
)

// The priority classes that every cluster has, with their values, and the
// priority from which the kubelet takes a pod for critical.
//
// kubelet v1.37: pkg/apis/scheduling/types.go.
const (
	SystemNodeCritical            = "system-node-critical"
	SystemClusterCritical         = "system-cluster-critical"
	SystemCriticalPriority        = 2 * 1_000_000_000
	SystemNodeCriticalPriority    = SystemCriticalPriority + 1000
	SystemClusterCriticalPriority = SystemCriticalPriority
)
