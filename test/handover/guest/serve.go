//go:build handover

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// apiServer answers what a kubelet asks when it starts, and no more: it keeps
// the one Node, and takes all else that is posted without a memory of it.
type apiServer struct {
	folder string
	mu     sync.Mutex
	node   []byte
	// registered is closed when there is a Node: a kubelet hears of no pod before
	// it has seen its own.
	registered chan struct{}
	once       sync.Once
}

func serve(folder string) error {
	return http.ListenAndServe("127.0.0.1:8080", &apiServer{folder: folder, registered: make(chan struct{})})
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	node := s.node
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	list, ofNodes := lists()[r.URL.Path], strings.HasPrefix(r.URL.Path, "/api/v1/nodes")
	switch {
	case r.Method == http.MethodPost:
		body, err := io.ReadAll(r.Body)
		if err == nil && ofNodes {
			body, err = s.register(body)
		}
		if err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(body)
	case r.URL.Query().Has("watch") && list != "" && !r.URL.Query().Has("sendInitialEvents"):
		s.watch(w, r, ofNodes && len(node) == 0)
	case r.URL.Query().Has("watch"):
		refuse(w, http.StatusUnprocessableEntity, "no streaming lists here")
	case r.Method == http.MethodGet && list != "":
		items := ""
		if ofNodes {
			items = string(node)
		}
		group, kind, _ := strings.Cut(list, " ")
		_, _ = fmt.Fprintf(w, `{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"1"},"items":[%s]}`, kind, group, items)
	case ofNodes && node != nil:
		_, _ = w.Write(node)
	default:
		refuse(w, http.StatusNotFound, "not found")
	}
}

// watch keeps a watch open, in which at most one thing happens: the Node comes.
func (s *apiServer) watch(w http.ResponseWriter, r *http.Request, forNode bool) {
	flush := http.NewResponseController(w).Flush
	w.WriteHeader(http.StatusOK)
	_ = flush()
	if forNode {
		select {
		case <-r.Context().Done():
			return
		case <-s.registered:
		}
		s.mu.Lock()
		_, _ = fmt.Fprintf(w, "{\"type\":\"ADDED\",\"object\":%s}\n", s.node)
		s.mu.Unlock()
		_ = flush()
	}
	<-r.Context().Done()
}

// lists are those that the kubelet's informers ask for, by path.
func lists() map[string]string {
	return map[string]string{
		"/api/v1/pods":                            "v1 PodList",
		"/api/v1/nodes":                           "v1 NodeList",
		"/api/v1/services":                        "v1 ServiceList",
		"/apis/node.k8s.io/v1/runtimeclasses":     "node.k8s.io/v1 RuntimeClassList",
		"/apis/storage.k8s.io/v1/csidrivers":      "storage.k8s.io/v1 CSIDriverList",
		"/apis/resource.k8s.io/v1/resourceslices": "resource.k8s.io/v1 ResourceSliceList",
	}
}

// register keeps the Node as the kubelet posts it, in a file of its own too.
func (s *apiServer) register(body []byte) ([]byte, error) {
	var node corev1.Node
	if err := json.Unmarshal(body, &node); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(s.folder, "node.json"), body, 0o644); err != nil {
		return nil, err
	}
	node.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
	node.UID, node.ResourceVersion = "00000000-0000-4000-8000-000000000001", "1"
	stored, err := json.Marshal(node)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.node = stored
	s.mu.Unlock()
	s.once.Do(func() { close(s.registered) })
	return stored, nil
}

func refuse(w http.ResponseWriter, code int, why string) {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Message: why,
	}
	switch code {
	case http.StatusNotFound:
		status.Reason = metav1.StatusReasonNotFound
	case http.StatusUnprocessableEntity:
		// A client that hears this asks for a plain list.
		status.Reason = metav1.StatusReasonInvalid
	}
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(status)
}
