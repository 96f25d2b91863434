package fleet

import (
	"context"
	"io"
	"runtime"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
)

// Options bring what stands beside the stream, and say what to ask.
type Options struct {
	// Config gives the configuration of a node's kubelet, read by the rules of
	// that minor version, and its source; nil where none is known. It may be
	// called from any goroutine.
	Config func(node string, minor kubelet.Minor) (*kubelet.Config, string, error)
	// Candidate gives the configuration that the node is to have; nil where none
	// is asked about.
	Candidate func(node string, minor kubelet.Minor) (*kubelet.Config, error)
	// HasTopology tells whether Topology has an answer.
	HasTopology func(node string) bool
	// Topology reads a node's machine, and its checkpoint files where they are
	// known.
	Topology func(ctx context.Context, node string) (*Topology, error)
	// Findings are those for which a kubelet with this configuration would not
	// start on a machine, which may be nil, of that capacity.
	Findings func(c *kubelet.Config, m *machine.Machine, capacity corev1.ResourceList) []kubelet.Finding
	// FitPod are the requests and limits of the Guaranteed pod that is asked
	// about; empty for none.
	FitPod corev1.ResourceList
	// Progress, if not nil, is told how many objects were read.
	Progress func(objects int)
}

// batchBytes is how much text workers get at a time: many objects, so that
// handing them over costs little, and few enough to keep memory small.
const batchBytes = 256 << 10

// batch is a run of objects with what became of them.
type batch struct {
	text    []byte
	objects []object
	// ends are where each object's text ends.
	ends    []int
	records []record
	done    chan struct{}
}

// record is one object, decoded.
type record struct {
	at     string
	fields *fields
	size   int
	err    error
	// pod and its sums are set for pods; sums are nil where they depend on the
	// node's gates.
	pod     *corev1.Pod
	sums    *podSums
	machine *machine.Machine
}

// Read takes in a stream to its end, or until ctx ends. The error says where the
// stream broke off; what came before counts.
func (c *Cluster) Read(ctx context.Context, r io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := runtime.GOMAXPROCS(0)
	work, order := make(chan *batch, workers), make(chan *batch, 2*workers)
	for range workers {
		go decodeBatches(ctx, work)
	}
	free := make(chan *batch, 3*workers+1)
	ended := make(chan error, 1)
	go func() {
		ended <- split(ctx, r, free, func(b *batch) error {
			for _, to := range []chan<- *batch{order, work} {
				select {
				case to <- b:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
		close(order)
		close(work)
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case b, open := <-order:
			if !open {
				return c.ended(ctx, <-ended)
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-b.done:
			}
			for i := range b.records {
				c.add(&b.records[i])
			}
			if c.options.Progress != nil {
				c.options.Progress(c.Input.Objects)
			}
			b.reset(free)
		}
	}
}

// ended counts what the end of the stream costs.
func (c *Cluster) ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil {
		c.Input.problem(ProblemTruncated, err.Error(), true)
	}
	return err
}

// reset hands a batch back, but for the text of a large object.
func (b *batch) reset(free chan<- *batch) {
	if cap(b.text) > 4*batchBytes {
		b.text = nil
	}
	clear(b.records)
	b.text, b.objects, b.ends, b.records = b.text[:0], b.objects[:0], b.ends[:0], b.records[:0]
	select {
	case free <- b:
	default:
	}
}

// split makes batches of the stream.
func split(ctx context.Context, r io.Reader, free <-chan *batch, hand func(*batch) error) error {
	next := func() *batch {
		select {
		case b := <-free:
			b.done = make(chan struct{})
			return b
		default:
			return &batch{done: make(chan struct{})}
		}
	}
	b := next()
	broken := eachObject(r, func(o object) error {
		b.text = append(b.text, o.text...)
		o.text = nil
		b.objects, b.ends = append(b.objects, o), append(b.ends, len(b.text))
		if len(b.text) < batchBytes {
			return ctx.Err()
		}
		err := hand(b)
		b = next()
		return err
	})
	if err := hand(b); err != nil {
		return err
	}
	return broken
}

// decodeBatches decodes until there is no more work.
func decodeBatches(ctx context.Context, work <-chan *batch) {
	d := newDecoder()
	for b := range work {
		start := 0
		for i, o := range b.objects {
			o.text = b.text[start:b.ends[i]]
			start = b.ends[i]
			b.records = d.append(ctx, b.records, o, 0)
		}
		close(b.done)
	}
}

// append decodes an object, or of a list within the list what it holds.
func (d *decoder) append(ctx context.Context, records []record, o object, depth int) []record {
	if o.err != nil {
		return append(records, record{at: o.at, err: o.err})
	}
	f, text, err := d.decode(o)
	r := record{at: o.at, fields: f, size: len(o.text), err: err}
	if err != nil {
		return append(records, r)
	}
	switch {
	case o.yaml && string(text) == "null":
		// A document of nothing but comments is none.
		return records
	case f.Kind == kindPod:
		r.pod = f.pod()
		if !bound(r.pod) {
			sums := reduce(r.pod, kubelet.Gates{})
			r.sums = &sums
		}
	case f.Kind == kindTopology:
		r.machine, r.err = machine.Parse(ctx, text)
	case isList(f.Kind) && depth < maxListDepth:
		return d.appendItems(ctx, records, o, text, depth+1)
	}
	return append(records, r)
}
