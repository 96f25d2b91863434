package driver

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Delegated sees either attribute in any hierarchy: systemd marks its own alone.
func TestDelegated(t *testing.T) {
	d, root := open(t)
	folders := d.folders(root)
	for _, tt := range []struct {
		name, value string
		want        bool
	}{
		{"trusted.delegate", "1", true},
		{"user.delegate", "1", true},
		{"trusted.delegate", "0", false},
		{"trusted.other", "1", false},
	} {
		for _, folder := range folders {
			if err := unix.Lsetxattr(folder, tt.name, []byte(tt.value), 0); err != nil {
				t.Fatal(err)
			}
			if got, err := d.Delegated(root); err != nil || got != tt.want {
				t.Errorf("%s=%s on %s: %v, %v; want %v", tt.name, tt.value, folder, got, err, tt.want)
			}
			if err := unix.Lremovexattr(folder, tt.name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, err := d.Delegated(root + "/none"); err != nil || got {
		t.Errorf("one that is not there: %v, %v", got, err)
	}
	if _, err := d.Delegated(root + "/.."); err == nil {
		t.Error("a path that leads out passed")
	}
}
