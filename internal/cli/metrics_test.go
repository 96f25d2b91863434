package cli

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kqos/kqos/internal/inspect"
)

func TestServeMetrics(t *testing.T) {
	var log bytes.Buffer
	end, err := serveMetrics(t.Context(), "127.0.0.1:0", slog.New(slog.NewTextHandler(&log, nil)), func(r prometheus.Registerer) error {
		m, err := inspect.NewMetrics(r)
		m.Looked(inspect.Look{Report: &inspect.Report{Leaks: make([]inspect.Leak, 3)}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`address=(\S+)`).FindStringSubmatch(log.String())[1]
	for path, want := range map[string]string{"/healthz": "ok\n", "/metrics": "\nkqos_inspect_leaked_cgroups 3\n"} {
		if got := get(t.Context(), t, "http://"+address+path); !strings.Contains(got, want) {
			t.Errorf("%s has no %q:\n%s", path, want, got)
		}
	}
	end()
	if _, err := serveMetrics(t.Context(), "nowhere:none", slog.New(slog.DiscardHandler), func(prometheus.Registerer) error { return nil }); err == nil || !strings.Contains(err.Error(), "--metrics-address") {
		t.Errorf("an address that is none: %v", err)
	}
}

func get(ctx context.Context, t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
