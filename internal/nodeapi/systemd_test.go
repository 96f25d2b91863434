package nodeapi

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"
)

// answers of a systemd by object path and interface.
type answers map[string]map[string]dbus.Variant

// serveSystemd listens on a socket as systemd does on its own.
func serveSystemd(t *testing.T, a answers) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "private")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go a.serve(conn)
		}
	}()
	return socket
}

func (a answers) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for greeting := true; greeting; {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		reply := "ERROR"
		switch strings.Trim(strings.TrimSpace(line), "\x00") {
		case "AUTH":
			reply = "REJECTED EXTERNAL"
		case "BEGIN":
			greeting = false
			continue
		default:
			if strings.HasPrefix(line, "AUTH EXTERNAL") {
				reply = "OK 0123456789abcdef"
			}
		}
		fmt.Fprintf(conn, "%s\r\n", reply)
	}
	for {
		call, err := dbus.DecodeMessage(in)
		if err != nil {
			return
		}
		if err := a.reply(conn, call); err != nil {
			return
		}
	}
}

func (a answers) reply(to io.Writer, call *dbus.Message) error {
	path, _ := call.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
	reply := &dbus.Message{Type: dbus.TypeMethodReply, Headers: map[dbus.HeaderField]dbus.Variant{dbus.FieldReplySerial: dbus.MakeVariant(call.Serial())}}
	values, ok := a[fmt.Sprintf("%s %s", filepath.Base(string(path)), call.Body[0])]
	if !ok {
		reply.Type = dbus.TypeError
		reply.Headers[dbus.FieldErrorName] = dbus.MakeVariant("org.freedesktop.systemd1.NoSuchUnit")
		return reply.EncodeTo(to, binary.LittleEndian)
	}
	reply.Body = []any{values}
	reply.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(values))
	return reply.EncodeTo(to, binary.LittleEndian)
}

func TestUnits(t *testing.T) {
	v := dbus.MakeVariant
	socket := serveSystemd(t, answers{
		"kubepods_2eslice org.freedesktop.systemd1.Unit": {
			"LoadState": v("loaded"), "FragmentPath": v("/run/systemd/transient/kubepods.slice"), "DropInPaths": v([]string{"/run/systemd/transient/kubepods.slice.d/50-CPUWeight.conf"}),
		},
		"kubepods_2eslice org.freedesktop.systemd1.Slice": {
			"CPUWeight": v(uint64(39)), "MemoryMax": v(uint64(math.MaxUint64)), "AllowedCPUs": v([]byte{0x0c, 1}), "Delegate": v(true), "Slice": v("-.slice"),
		},
		"gone_2escope org.freedesktop.systemd1.Unit": {"LoadState": v("not-found")},
	})
	got, err := Units(t.Context(), []string{filepath.Join(t.TempDir(), "none"), socket}, []string{"kubepods.slice", "gone.scope", "never.slice", ""})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Unit{"kubepods.slice": {
		Name: "kubepods.slice", Delegated: true, Properties: map[string]string{"CPUWeight": "39", "MemoryMax": "infinity", "AllowedCPUs": "0c01"},
		Files: []string{"/run/systemd/transient/kubepods.slice", "/run/systemd/transient/kubepods.slice.d/50-CPUWeight.conf"},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error("-want +got:\n" + d)
	}
}

// TestRecordedUnits takes what a captured host's systemd told for its answer.
func TestRecordedUnits(t *testing.T) {
	for text, want := range map[string]map[string]Unit{
		`{"a.slice": {"name": "a.slice", "properties": {"CPUWeight": "39"}, "delegated": true}, "b.slice": {}}`: {
			"a.slice": {Name: "a.slice", Properties: map[string]string{"CPUWeight": "39"}, Delegated: true},
		},
		`{}`:   {},
		`null`: nil,
		`{"a`:  nil,
		`[1]`:  nil,
	} {
		root := hostFiles(t, map[string]string{UnitsFile: text})
		got, err := Units(t.Context(), SystemdSockets(root), []string{"a.slice", "gone.slice"})
		if d := cmp.Diff(want, got); d != "" || (err != nil) != (want == nil && text != "null") {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, d)
		}
	}
}

// TestSystemdSilent does not wait for a socket that takes calls and says nothing,
// nor for one that is gone.
func TestSystemdSilent(t *testing.T) {
	silent := filepath.Join(t.TempDir(), "private")
	l, err := net.Listen("unix", silent)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	begin := time.Now()
	if units, err := Units(t.Context(), []string{silent}, []string{"a.slice"}); err == nil || units != nil {
		t.Errorf("%v, %v", units, err)
	}
	if waited := time.Since(begin); waited > 5*timeout {
		t.Errorf("waited %s", waited)
	}
	if _, err := Units(t.Context(), SystemdSockets(t.TempDir()), []string{"a.slice"}); err == nil {
		t.Error("no error without any socket")
	}
}
