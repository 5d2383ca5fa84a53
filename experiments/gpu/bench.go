package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"winnow/backbone/ort"
	"winnow/internal/ortlib"
)

// errTime ends a part whose time is over.
var errTime = errors.New("the time was over")

// exitTime is the exit code of a part whose time was over.
const exitTime = 3

// bench is a part at work, in a process of its own.
type bench struct {
	options
	scale
	ctx  context.Context
	part Part
	log  io.Writer

	library  string
	registry string       // of models, for winnow's own commands
	cpu      *ort.Runtime // what the device is compared with, and where all that is not tried runs
	dev      *ort.Runtime // the device; in a rehearsal the CPU with another number of threads
	pixels   []float32    // of drawn pictures, as many as were needed
}

// scale is how large everything is.
type scale struct {
	side      int           // of pictures for drawn networks
	blocks    []int         // of the ResNet's stages
	depth     int           // of the transformer
	width     int           // of the transformer
	batches   []int         // of extraction
	steps     []int         // batches of training
	compared  int           // pictures in a comparison of numbers
	each      time.Duration // a measurement takes at least so long
	rows, dim int           // of the set that is searched
	asked     int           // queries at once
	checked   int           // queries that the CPU answers too
	most      int           // largest batch that is tried for memory
}

var (
	full = scale{side: 224, blocks: []int{3, 4, 6, 3}, depth: 12, width: 384,
		batches: []int{64, 8, 256, 16, 32, 128, 512}, steps: []int{64, 8, 32, 128}, compared: 4,
		each: 700 * time.Millisecond, rows: 60_502, dim: 512, asked: 1024, checked: 1000, most: 2048}
	rehearsal = scale{side: 32, blocks: []int{1, 1, 1, 1}, depth: 2, width: 48, batches: []int{2, 1}, steps: []int{2},
		compared: 2,
		each:     5 * time.Millisecond, rows: 1200, dim: 32, asked: 256, checked: 60, most: 4}
)

// runPart measures one part and writes it; it returns the process's exit code.
func runPart(ctx context.Context, o options, stderr io.Writer) int {
	b := &bench{options: o, scale: full, ctx: ctx, log: stderr}
	if o.small {
		b.scale = rehearsal
	}
	var err error
	if b.part, err = readPart(o.out, o.part); err == nil {
		err = b.work(partBy(o.part).run)
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", o.part, err)
	}
	switch {
	case errors.Is(err, errTime):
		return exitTime
	case err != nil:
		return 1
	}
	return 0
}

// work does a part and notes how it ended.
func (b *bench) work(run func(*bench) error) (err error) {
	if len(b.part.Trying) > 0 { // the process before this one ended amid it: it is not tried again
		b.part.Records = append(b.part.Records, Record{Of: b.part.Trying, Error: "the process ended amid this"})
		b.part.Trying = nil
	}
	func() {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
			}
		}()
		err = run(b)
	}()
	b.part.State, b.part.Error = stateDone, ""
	if err != nil {
		b.part.State, b.part.Error = stateFailed, oneLine(err.Error())
	}
	if errors.Is(err, errTime) {
		b.part.State = statePartly
	}
	return errors.Join(err, writePart(b.out, b.part))
}

// measure takes one record, unless it is there from an earlier call. What goes wrong in it is part of the record:
// only the time's end, and a record that cannot be written, end the part.
func (b *bench) measure(take func() (Record, error), of ...string) error {
	if b.part.find(of...) != nil {
		return nil
	}
	if b.ctx.Err() != nil || !time.Now().Before(b.end()) {
		return errTime
	}
	b.part.Trying = of
	if err := writePart(b.out, b.part); err != nil {
		return err
	}
	began := time.Now()
	r, err := take()
	if errors.Is(err, errTime) {
		b.part.Trying = nil
		return err
	}
	if r.Of = of; err != nil {
		r.Error = oneLine(err.Error())
		if advice := ort.GPUHint(err, ""); advice != "" {
			r.Error += " → " + advice
		}
	}
	b.part.Records, b.part.Trying = append(b.part.Records, r), nil
	fmt.Fprintf(b.log, "%s: %s: %s in %v\n", b.part.Name, strings.Join(of, ", "), cmp.Or(r.Error, "done"),
		time.Since(began).Round(time.Millisecond))
	return writePart(b.out, b.part)
}

// note records a fact.
func (b *bench) note(text string, of ...string) error {
	return b.measure(func() (Record, error) { return Record{Text: text}, nil }, of...)
}

// open loads ONNX Runtime for the CPU and for the device, and lets it multiply.
func (b *bench) open() error {
	found, err := ortlib.Find(b.options.library)
	if err != nil {
		return err
	}
	b.library = found.Path
	if b.cpu, err = ort.Open(ort.Config{Library: b.library}); err != nil {
		return err
	}
	b.dev, err = b.device(ort.GPU{})
	return err
}

// device loads the runtime of the device with settings of its own. A rehearsal takes another number of threads than the
// CPU that it is compared with, so that it adds up in another order.
func (b *bench) device(gpu ort.GPU) (*ort.Runtime, error) {
	threads := 0
	if b.options.device == "cpu" {
		threads = max(1, runtime.GOMAXPROCS(0)-1)
	}
	return ort.Load(ort.Config{Library: b.library, Device: b.options.device, Threads: threads, GPU: gpu})
}

// precision is a way to compute in a network.
type precision struct {
	name string
	half bool
	gpu  ort.GPU
}

// precisions are those that the device has; the first is what winnow computes in.
func (b *bench) precisions() []precision {
	list := []precision{{name: "float32"}, {name: "float16", half: true}}
	if b.dev.Device().CUDA {
		list = append(list, precision{name: "TF32", gpu: ort.GPU{TF32: true}},
			precision{name: "float32, exhaustive search", gpu: ort.GPU{Search: ort.SearchExhaustive}})
	}
	return list
}

// of returns a network's model and the runtime for a precision.
func (b *bench) of(p precision, n *network) (*ort.Runtime, []byte, error) {
	m := n.model
	if p.half {
		var err error
		if m, err = half(m); err != nil {
			return nil, nil, err
		}
	}
	rt := b.dev
	if p.gpu != (ort.GPU{}) {
		var err error
		if rt, err = b.device(p.gpu); err != nil {
			return nil, nil, err
		}
	}
	return rt, m.Marshal(), nil
}

// pictures returns the pixels of so many drawn pictures: normal numbers, as of normalised photographs. Sixteen are
// drawn.
func (b *bench) pictures(n *network, images int) []float32 {
	const drawn = 16
	size := n.channels * n.side * n.side
	if need := images * size; len(b.pixels) < need {
		rng := rand.New(rand.NewPCG(3, 0))
		had := len(b.pixels)
		b.pixels = slices.Grow(b.pixels, need-had)[:need]
		for i := had; i < need; i++ {
			if i < drawn*size {
				b.pixels[i] = float32(rng.NormFloat64())
			} else {
				b.pixels[i] = b.pixels[i-drawn*size]
			}
		}
	}
	return b.pixels[:images*size]
}

// seconds returns how long a run takes, in the mean of all runs of at least b.each after two that warm up.
func (b *bench) seconds(run func() error) (float64, error) {
	for range 2 {
		if err := run(); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	for n := 1; ; n++ {
		if err := run(); err != nil {
			return 0, err
		}
		if took := time.Since(began); took >= b.each {
			return took.Seconds() / float64(n), nil
		}
	}
}

// together returns how long a run takes where several go on side by side, over all of their runs.
func (b *bench) together(runs []func() error) (float64, error) {
	for _, run := range runs {
		if err := run(); err != nil {
			return 0, err
		}
	}
	errs, counts := make([]error, len(runs)), make([]int, len(runs))
	var group sync.WaitGroup
	began := time.Now()
	for i, run := range runs {
		group.Go(func() {
			for errs[i] == nil && time.Since(began) < b.each {
				errs[i] = run()
				counts[i]++
			}
		})
	}
	group.Wait()
	took, n := time.Since(began).Seconds(), 0
	for _, c := range counts {
		n += c
	}
	return took / float64(n), errors.Join(errs...)
}
