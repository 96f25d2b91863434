package cgroups

func shares(name string) row {
	return func(s *Settings, _ Platform) []Control {
		if s.CPUShares == nil || s.CPUShares.Is == 0 {
			return nil
		}
		return one(name, s.CPUShares, uplain)
	}
}

func weight(name string) row {
	return func(s *Settings, _ Platform) []Control {
		switch {
		case s.CPUShares == nil || s.Runtime && s.CPUShares.Is == 0:
			return nil
		case s.Runtime:
			return one(name, s.CPUShares, func(n uint64) string { return uplain(SharesToWeightRuntime(n)) })
		}
		return one(name, s.CPUShares, func(n uint64) string { return uplain(SharesToWeight(n)) })
	}
}

func period(name string) row {
	return func(s *Settings, _ Platform) []Control {
		if s.CPUPeriod == nil || s.CPUPeriod.Is == 0 {
			return nil
		}
		return one(name, s.CPUPeriod, uplain)
	}
}

func quota(name string) row {
	return func(s *Settings, _ Platform) []Control {
		if s.CPUQuota == nil || s.CPUQuota.Is == 0 {
			return nil
		}
		return one(name, s.CPUQuota, plain)
	}
}

// bandwidth is quota and period with what stands for an unset one; ok is false
// when neither is set.
func (s *Settings) bandwidth() (quota int64, period uint64, v *Value[string], ok bool) {
	v = &Value[string]{}
	if s.CPUPeriod != nil {
		period, v.Why = s.CPUPeriod.Is, s.CPUPeriod.Why
	}
	if s.CPUQuota != nil {
		quota, v.Why = s.CPUQuota.Is, s.CPUQuota.Why
	}
	ok = quota != 0 || period != 0
	if period == 0 {
		period = defaultPeriod
	}
	return quota, period, v, ok
}

// opencontainers/cgroups v0.1.0: fs2/cpu.go setCPU.
func cpuMax(name string) row {
	return func(s *Settings, _ Platform) []Control {
		quota, period, v, ok := s.bandwidth()
		if !ok {
			return nil
		}
		text := "max"
		if quota > 0 {
			text = plain(quota)
		}
		v.Is = text + " " + uplain(period)
		return []Control{{name, *v}}
	}
}

// perSecond is the quota in µs a second, which systemd keeps in whole percent
// of a CPU: rounded up to 10 ms.
//
// opencontainers/cgroups v0.1.0: systemd/common.go addCPUQuota.
func perSecond(quota int64, period uint64) uint64 {
	const second, percent = 1_000_000, 10_000
	n := uint64(quota*second) / period
	if n%percent != 0 {
		n = (n/percent + 1) * percent
	}
	return n
}

// roundQuota makes the file hold what systemd's rounding of the property gives,
// so that both agree.
//
// opencontainers/cgroups v0.1.0: systemd/common.go addCPUQuota.
func roundQuota(s Settings) Settings {
	quota, period, _, _ := s.bandwidth()
	if quota <= 0 || uint64(quota*1_000_000)/period%10_000 == 0 {
		return s
	}
	rounded := *s.CPUQuota
	rounded.Is = int64(perSecond(quota, period)) * int64(period) / 1_000_000
	rounded.Why += ", rounded up to whole percent of a CPU by systemd"
	s.CPUQuota = &rounded
	return s
}

func quotaPerSecond(name string) row {
	return func(s *Settings, _ Platform) []Control {
		quota, period, v, ok := s.bandwidth()
		if !ok {
			return nil
		}
		v.Is = "infinity"
		if quota > 0 {
			v.Is = uplain(perSecond(quota, period))
		}
		return []Control{{name, *v}}
	}
}
