package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"testing"

	corev1 "k8s.io/api/core/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// podsText is a stream of n pods of the usual shape: two containers, a sidecar,
// probes, mounts and environment.
func podsText(tb testing.TB, n int, asYAML bool) []byte {
	tb.Helper()
	var out bytes.Buffer
	for i := range n {
		text := fmt.Sprintf(benchPod, i, i)
		if !asYAML {
			j, err := yaml.YAMLToJSON([]byte(text))
			if err != nil {
				tb.Fatal(err)
			}
			text = string(j) + "\n"
		}
		out.WriteString(text)
	}
	return out.Bytes()
}

const benchPod = `---
apiVersion: v1
kind: Pod
metadata:
  name: web-%d
  namespace: shop
  uid: 7c8f5a31-2f0e-4d6b-9a53-%012d
  labels: {app: web, tier: front}
  annotations: {prometheus.io/scrape: "true", prometheus.io/port: "9090"}
spec:
  serviceAccountName: web
  nodeSelector: {kubernetes.io/os: linux}
  initContainers:
  - name: proxy
    image: registry.example/proxy:2
    restartPolicy: Always
    resources:
      requests: {cpu: 100m, memory: 64Mi}
      limits: {cpu: 200m, memory: 128Mi}
  containers:
  - name: web
    image: registry.example/web:9
    args: [--listen, ":8080", --cache, /var/cache/web]
    ports: [{name: http, containerPort: 8080}, {name: metrics, containerPort: 9090}]
    env:
    - {name: MODE, value: production}
    - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
    resources:
      requests: {cpu: "1", memory: 1Gi}
      limits: {cpu: "2", memory: 2Gi}
    livenessProbe: {httpGet: {path: /healthz, port: http}, initialDelaySeconds: 10}
    readinessProbe: {httpGet: {path: /ready, port: http}, periodSeconds: 5}
    securityContext: {runAsNonRoot: true, readOnlyRootFilesystem: true}
    volumeMounts: [{name: cache, mountPath: /var/cache/web}, {name: config, mountPath: /etc/web}]
  - name: log
    image: registry.example/log:4
    resources:
      requests: {cpu: 50m, memory: 32Mi}
  volumes:
  - {name: cache, emptyDir: {}}
  - {name: config, configMap: {name: web}}
`

// BenchmarkClassify answers for pods in memory, reads them from text included,
// beside plain decoding of the same bytes as a client of the API does it. table
// and json are the whole command with its output.
func BenchmarkClassify(b *testing.B) {
	for _, asYAML := range []bool{false, true} {
		form := map[bool]string{false: "json", true: "yaml"}[asYAML]
		for _, n := range []int{1, 1000, 10000} {
			text := podsText(b, n, asYAML)
			run := func(name string, do func(b *testing.B)) {
				b.Run(fmt.Sprintf("%s/%d/%s", form, n, name), func(b *testing.B) {
					b.SetBytes(int64(len(text)))
					for b.Loop() {
						do(b)
					}
				})
			}
			run("decode", func(b *testing.B) {
				if got := decodePlainly(b, text); len(got) != n {
					b.Fatalf("decoded %d pods", len(got))
				}
			})
			run("classify", func(b *testing.B) { classifyInMemory(b, text, n) })
			for _, output := range []string{"table", "json"} {
				run(output, func(b *testing.B) {
					args := []string{"classify", "-", "--topology", "synthetic:memory=64Gi", "-o", output}
					if code := Main(args, silent(text)); code != exitDone {
						b.Fatalf("exit code %d", code)
					}
				})
			}
		}
	}
}

func silent(stdin []byte) System {
	return System{In: bytes.NewReader(stdin), Out: io.Discard, Err: io.Discard, Getenv: func(string) string { return "" }}
}

func classifyInMemory(b *testing.B, text []byte, n int) {
	b.Helper()
	a := &app{System: silent(text)}
	o := &classifyOptions{node: nodeFlags{topology: "synthetic:memory=64Gi", driver: "auto", cgroupVersion: "auto", kubernetes: "auto", hostRoot: "/"}}
	pods, node, err := o.pods.stream(b.Context(), a, []string{"-"}, &o.node)
	if err != nil {
		b.Fatal(err)
	}
	c, err := newClassifier(node, false)
	if err != nil {
		b.Fatal(err)
	}
	answered := 0
	for in := range pods.batches() {
		answered += len(c.classify(a, in))
	}
	if answered != n {
		b.Fatalf("%d pods", answered)
	}
}

func decodePlainly(b *testing.B, text []byte) (pods []*corev1.Pod) {
	b.Helper()
	if text[0] == '{' {
		values := kjson.NewDecoderCaseSensitivePreserveInts(bytes.NewReader(text))
		for {
			pod := &corev1.Pod{}
			if err := values.Decode(pod); err != nil {
				return pods
			}
			pods = append(pods, pod)
		}
	}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if err != nil {
			return pods
		}
		pod := &corev1.Pod{}
		if err := yaml.Unmarshal(document, pod); err != nil {
			b.Fatal(err)
		}
		pods = append(pods, pod)
	}
}
