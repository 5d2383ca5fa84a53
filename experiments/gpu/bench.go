package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"winnow/backbone/ort"
	"winnow/internal/ortlib"
)

// errTime ends a part when its time is over.
var errTime = errors.New("the time was over")

// exitTime is the exit code of a part whose time was over.
const exitTime = 3

// died is the error of a measurement during which the process ended or hung.
const died = "the process died during this"

// bench runs one part in a separate process.
type bench struct {
	options
	scale
	ctx  context.Context
	part Part
	most time.Duration // longest time of one measurement; 0: no limit except the part's
	log  io.Writer

	library string
	cpu     *ort.Runtime // the reference, which also computes everything that is not measured
	dev     *ort.Runtime // the device; in a trial run, the CPU with a different number of threads
	pixels  []float32    // pixels of the random images
}

// scale holds the sizes of networks, batches and sets.
type scale struct {
	side      int           // side of images for networks with random weights, in pixels
	blocks    []int         // number of blocks in each stage of the ResNet
	depth     int           // depth of the transformer
	width     int           // width of the transformer
	batches   []int         // batch sizes of extraction
	steps     []int         // batch sizes of training
	compared  int           // number of images in a comparison of numbers
	each      time.Duration // minimum time of a measurement
	rows, dim int           // size of the searched set
	asked     int           // number of queries at once
	checked   int           // number of queries that the CPU also answers
	largest   int           // largest batch tried for memory
}

var (
	full = scale{side: 224, blocks: []int{3, 4, 6, 3}, depth: 12, width: 384,
		batches: []int{64, 8, 256, 16, 32, 128, 512}, steps: []int{64, 8, 256}, compared: 4,
		each: 700 * time.Millisecond, rows: 60_502, dim: 512, asked: 1024, checked: 1000, largest: 2048}
	rehearsal = scale{side: 32, blocks: []int{1, 1, 1, 1}, depth: 2, width: 48, batches: []int{2, 1},
		steps: []int{2, 1}, compared: 2, each: 5 * time.Millisecond, rows: 1200, dim: 32, asked: 256,
		checked: 60, largest: 4}
)

// runPart runs a part, writes its results and returns the exit code of the process.
func runPart(ctx context.Context, o options, stderr io.Writer) int {
	b := &bench{options: o, scale: full, ctx: ctx, log: stderr}
	if o.small {
		b.scale = rehearsal
	}
	var err error
	if b.part, err = readPart(o.out, o.part); err == nil {
		p := partBy(o.part)
		if !o.small { // a trial run may share the machine with other work
			b.most = p.most
		}
		err = b.work(p.run)
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

// work runs a part and records how it ended.
func (b *bench) work(run func(*bench) error) (err error) {
	if len(b.part.Trying) > 0 { // the previous process died during this measurement: do not try it again
		b.part.Records = append(b.part.Records, Record{Of: b.part.Trying, Error: died})
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

// measure makes a record unless an earlier call has made it. The record contains the error of take. measure returns an
// error only if the part's time is over or the record cannot be written.
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
	if b.most > 0 { // a hanging call cannot be stopped: the process ends, and another continues after this measurement
		defer time.AfterFunc(b.most, func() {
			fmt.Fprintf(b.log, "%s: %s: no end after %v\n", b.part.Name, strings.Join(of, ", "), b.most)
			os.Exit(1)
		}).Stop()
	}
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

// note adds a record that contains only a text.
func (b *bench) note(text string, of ...string) error {
	return b.measure(func() (Record, error) { return Record{Text: text}, nil }, of...)
}

// open loads ONNX Runtime for the CPU and for the device, and uses it for matrix products.
func (b *bench) open() error {
	found, err := ortlib.Find(b.options.library)
	if err != nil {
		return err
	}
	b.library = found.Path
	if b.cpu, err = ort.Open(ort.Config{Library: b.library, Threads: b.threads()}); err != nil {
		return err
	}
	b.dev, err = b.device(ort.GPU{})
	return err
}

// threads returns one thread for a trial run: on a busy machine, several threads that wait for each other take minutes.
func (b *bench) threads() int {
	if b.small {
		return 1
	}
	return 0 // all cores
}

// device loads the runtime of the device with the given GPU settings.
func (b *bench) device(gpu ort.GPU) (*ort.Runtime, error) {
	return ort.Load(ort.Config{Library: b.library, Device: b.options.device, Threads: b.threads(), GPU: gpu})
}

// precision is a precision in which a network computes.
type precision struct {
	name string
	gpu  ort.GPU
}

// precisions returns the precisions of the device; the first is winnow's.
func (b *bench) precisions() []precision {
	list := []precision{{name: "float32"}}
	if b.dev.Device().CUDA {
		list = append(list, precision{name: "TF32", gpu: ort.GPU{TF32: true}})
	}
	return list
}

// of returns the runtime and the model of a network for a precision.
func (b *bench) of(p precision, n *network) (*ort.Runtime, []byte, error) {
	m := n.model
	rt := b.dev
	if p.gpu != (ort.GPU{}) {
		var err error
		if rt, err = b.device(p.gpu); err != nil {
			return nil, nil, err
		}
	}
	return rt, m.Marshal(), nil
}

// pictures returns the pixels of random images: normal numbers, as in normalised photographs. Only 16 images differ.
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

// warmUps is the number of runs before a measurement.
const warmUps = 2

// seconds returns the mean time of a run. It measures for at least b.each, after some warm-up runs.
func (b *bench) seconds(run func() error) (float64, error) {
	for range warmUps {
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

// together returns the mean time of a run when several run at the same time.
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
			for errs[i] == nil && (counts[i] == 0 || time.Since(began) < b.each) { // at least once on a busy machine
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
