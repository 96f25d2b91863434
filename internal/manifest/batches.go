package manifest

import (
	"iter"

	"github.com/kqos/kqos/internal/parallel"
)

// batch is how many objects are decoded at once: enough to keep all processors
// busy, and some megabytes of pods.
const batch = 2048

// Stream is what inputs hold, with the pods still as text.
type Stream struct {
	// Found is all but the workloads and what is told of them.
	Found Input
	units []*decoder
}

func newStream(units []*decoder) *Stream {
	s := &Stream{units: units}
	for _, d := range units {
		s.Found.take(&d.found)
	}
	return s
}

// take moves all but workloads and what is told over.
func (in *Input) take(from *Input) {
	told := Input{Workloads: from.Workloads, Warnings: from.Warnings, Errors: from.Errors}
	from.Workloads, from.Warnings, from.Errors = nil, nil, nil
	in.append(from)
	*from = told
}

// Batches decodes the pods, in the order of the inputs, and gives them with what
// is told of the inputs, some thousands at a time: whoever keeps none of them
// holds no more than those. It can be ranged over once.
func (s *Stream) Batches() iter.Seq[*Input] {
	return func(yield func(*Input) bool) {
		for len(s.units) > 0 {
			units := s.units[:min(batch, len(s.units))]
			s.units = s.units[len(units):]
			parallel.Each(len(units), func(i int) { units[i].run() })
			in := &Input{}
			for _, d := range units {
				in.append(&d.found)
			}
			clear(units)
			if !yield(in) {
				return
			}
		}
	}
}

// all decodes everything.
func (s *Stream) all() *Input {
	in := &s.Found
	for part := range s.Batches() {
		in.append(part)
	}
	return in
}
