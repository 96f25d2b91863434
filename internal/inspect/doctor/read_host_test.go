package doctor

import "testing"

func TestRuntimeDrivers(t *testing.T) {
	for _, tt := range []struct {
		parse func(string) (string, string)
		text  string
		want  string
	}{
		{crioDriver, "cgroup_manager = \"cgroupfs\"\ncgroup_manager = \"systemd\" # yes\n", "systemd"},
		{crioDriver, "#cgroup_manager = \"cgroupfs\"\n", ""},
		{crioDriver, "[crio.runtime]\ncgroup_manager = \"cgroupfs\"\n", "cgroupfs"},
		{crioDriver, "conmon_cgroup = \"pod\"\n", ""},
		{dockerDriver, `{"exec-opts":["native.cgroupdriver=systemd"]}`, "systemd"},
		{dockerDriver, `{"exec-opts":`, ""},
	} {
		if got, _ := tt.parse(tt.text); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestLibraryVersion(t *testing.T) {
	for name, want := range map[string]int{
		"libsystemd-shared-252.31-1.so": 252, "libsystemd-shared-257.so": 257, "libsystemd-core-252.so": 0, "libsystemd-shared-x.so": 0, "libsystemd-shared-99999999999999999999.so": 0,
	} {
		if got := libraryVersion(name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

// FuzzHostFiles reads files of other programs, which may hold anything.
func FuzzHostFiles(f *testing.F) {
	for _, seed := range []string{"cgroup_manager = \"systemd\"", `{"exec-opts":["native.cgroupdriver=cgroupfs"]}`, "Filename Type\n/dev/sda2 partition 1 0 -2\n", "PRETTY_NAME=\"x\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, parse := range []func(string) (string, string){crioDriver, dockerDriver} {
			if driver, key := parse(text); driver != "" && driver != "systemd" && driver != "cgroupfs" || (driver == "") != (key == "") {
				t.Errorf("driver %q by %q", driver, key)
			}
		}
		swaps(text)
		osName(text)
		kernelBefore(text, 5, 8)
	})
}
