package cgroups

// Live is one cgroup as it is on the host. Drivers read it, Diff compares it
// with what is wanted.
type Live struct {
	// Exists is false when the cgroup lacks its folder, on v1 in any hierarchy
	// that the driver keeps it in.
	Exists bool
	// Marked says that kqos created the cgroup: every folder of it bears the
	// trusted.kqos attribute.
	Marked bool
	// Files holds the control files that could be read, keyed as in Cgroup.Files,
	// without the final newline. A file that the kernel does not offer here is
	// absent.
	Files map[string]string
	// PageSize is that of the host's memory in bytes, 0 where it is not known.
	PageSize uint64
}

// Holds says whether a control file reads as if want had been written to it.
func (l *Live) Holds(file, want string) bool {
	have, offered := l.Files[file]
	return offered && equal(file, want, have, l.PageSize)
}

// LiveTree is the host's state of each cgroup that was asked for, by path.
type LiveTree map[string]Live
