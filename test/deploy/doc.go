// Package deploy holds what stands in deploy/ against those who read it: the
// manifests against the API types and kustomize, the rules against Prometheus, the
// dashboard against Grafana. It is a module of its own, since these are large.
package deploy
