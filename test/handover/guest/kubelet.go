//go:build handover

package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const podsURL = "https://127.0.0.1:10250/pods"

// ask gets a URL of the kubelet, whose certificate is its own.
func ask(url string) ([]byte, error) {
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true,
	}}
	answer, err := client.Get(url)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, answer.Status)
	}
	return body, err
}

func get(url, file string) error {
	body, err := ask(url)
	if err != nil {
		return err
	}
	return os.WriteFile(file, body, 0o644)
}

// wait returns when that many pods run with all their containers, or have been
// refused, and says every change of their number.
func wait(pods, seconds string) error {
	want, err := strconv.Atoi(pods)
	if err != nil {
		return err
	}
	limit, err := time.ParseDuration(seconds + "s")
	if err != nil {
		return err
	}
	last := ""
	var open []string
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(time.Second) {
		var settled int
		settled, open, err = settledPods()
		said := fmt.Sprintf("%d of %d pods have settled", settled, want)
		if err != nil {
			said = err.Error()
		}
		if said != last {
			fmt.Println(said)
			last = said
		}
		if settled >= want && len(open) == 0 {
			return nil
		}
	}
	return fmt.Errorf("%s after %v: %s", last, limit, strings.Join(open, ", "))
}

func settledPods() (settled int, open []string, err error) {
	body, err := ask(podsURL)
	if err != nil {
		return 0, nil, err
	}
	var list corev1.PodList
	if err := json.Unmarshal(body, &list); err != nil {
		return 0, nil, fmt.Errorf("decoding the kubelet's pods: %w", err)
	}
	for _, pod := range list.Items {
		if runs(pod) || pod.Status.Phase == corev1.PodFailed {
			settled++
		} else {
			open = append(open, fmt.Sprintf("%s is %s", pod.Name, pod.Status.Phase))
		}
	}
	return settled, open, nil
}

func runs(pod corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodRunning || len(pod.Status.ContainerStatuses) == 0 {
		return false
	}
	for _, c := range pod.Status.ContainerStatuses {
		if c.Started == nil || !*c.Started {
			return false
		}
	}
	return true
}
