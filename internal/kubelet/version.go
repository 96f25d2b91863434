package kubelet

// FollowedVersion is the release whose kubelet kqos answers like.
const FollowedVersion = "v1.37.2"
