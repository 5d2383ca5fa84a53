package backbone

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/internal/regular"
)

// extraction is one run of Extract.
type extraction struct {
	cfg     ExtractConfig
	nets    []Network // networks that compute at the same time
	pinner  Pinner    // nil: memory is not pinned
	paths   []string
	store   RowWriter
	observe func(Progress)

	ahead  int         // index of the image that was read before the others
	seen   Look        // measurements of that image
	pixels [][]float32 // pixels of the views of that image; nil: no image was read

	free  chan *batch    // empty batches
	order chan *batch    // batches being filled, in the order of the images
	work  chan picture   // single images to decode
	rows  chan vectors   // results to write
	spare chan []float32 // memory for results
	stop  context.CancelFunc
	wrote error                          // error of the writer, set before it ends
	gone  atomic.Pointer[regular.Outage] // why no more images can be read
}

// batch holds the pixels of consecutive images.
type batch struct {
	first, n int
	pixels   []float32 // the first view of all images, then the second view, and so on
	reasons  []string  // why each image cannot be read, or ""
	left     sync.WaitGroup
}

// picture refers to one image of a batch.
type picture struct {
	of *batch
	at int
}

// vectors holds the results of a finished batch.
type vectors struct {
	x   blas32.General
	bad []features.Bad
}

// runExtraction starts the other goroutines and runs the network on the calling goroutine. The decoders end with ctx.
func (e *extraction) runExtraction(ctx context.Context, readers []*reader, start int) error {
	count := e.cfg.countSlots() + len(e.nets) - 1
	e.free, e.order = make(chan *batch, count), make(chan *batch, count)
	e.work = make(chan picture, e.cfg.Batch)
	e.rows, e.spare = make(chan vectors, 1), make(chan []float32, len(e.nets)+1)
	size, views := e.cfg.Preprocessing.Size(), len(e.cfg.configuredViews())
	pin := func(data []float32) []float32 { return data }
	if e.pinner != nil && len(e.paths)-start > count*e.cfg.Batch { // pinning pays only if memory is used again
		pin = func(data []float32) []float32 { e.pinner.Pin(data); return data }
		defer e.pinner.Unpin()
	}
	for range count {
		b := &batch{pixels: pin(make([]float32, views*e.cfg.Batch*size)), reasons: make([]string, e.cfg.Batch)}
		e.free <- b
	}
	for range cap(e.spare) {
		e.spare <- pin(make([]float32, e.cfg.Batch*views*e.nets[0].Dim()))
	}
	var sides sync.WaitGroup
	sides.Go(func() { e.feedBatches(ctx, start) })
	for _, r := range readers {
		sides.Go(func() { e.decodePictures(r, size) })
	}
	sides.Go(func() { e.writeBatches(start) })
	defer sides.Wait() // also when the network panics
	defer close(e.rows)
	defer e.stop()
	return e.inferBatches(ctx)
}

// feedBatches hands out the images batch by batch, and waits for a free batch when all are in use.
func (e *extraction) feedBatches(ctx context.Context, start int) {
	defer close(e.work)
	defer close(e.order)
	for first := start; first < len(e.paths); first += e.cfg.Batch {
		var b *batch
		select {
		case b = <-e.free:
		case <-ctx.Done():
			return
		}
		b.first, b.n = first, min(e.cfg.Batch, len(e.paths)-first)
		b.left.Add(b.n)
		e.order <- b
		for i := range b.n {
			e.work <- picture{b, i} // decoders never stop before this channel is closed
		}
	}
}

// decodePictures reads images from the work channel and writes their pixels into their batches.
func (e *extraction) decodePictures(r *reader, size int) {
	dst := make([][]float32, len(e.cfg.configuredViews()))
	for p := range e.work {
		b := p.of
		for v := range dst {
			at := v*e.cfg.Batch + p.at
			dst[v] = b.pixels[at*size : (at+1)*size]
		}
		b.reasons[p.at] = ""
		look := Look{}
		if b.first+p.at == e.ahead && e.pixels != nil {
			for v, pixels := range e.pixels {
				copy(dst[v], pixels)
			}
			look = e.seen
		} else if err := r.readImageViews(dst, e.paths[b.first+p.at]); err != nil {
			if gone, ok := errors.AsType[*regular.Outage](err); ok {
				e.gone.CompareAndSwap(nil, gone)
			}
			b.reasons[p.at] = err.Error()
			for _, pixels := range dst {
				clear(pixels)
			}
		} else {
			look = r.last
		}
		if e.cfg.Looked != nil {
			e.cfg.Looked(b.first+p.at, look)
		}
		b.left.Done()
	}
}

// flight is a batch that a network is computing.
type flight struct {
	b    *batch
	x    blas32.General
	done chan error // buffered: holds the batch's one error
}

// inferBatches gives the batches to the networks in turn, each with its own queue, and collects the results in the
// order of the images. It stops only between batches.
func (e *extraction) inferBatches(ctx context.Context) error {
	usable := e.cfg.Known || e.store.Rows() > len(e.store.Bad())
	settle := func(f flight) error {
		if err := <-f.done; err != nil {
			return &NetworkError{Images: e.paths[f.b.first : f.b.first+f.b.n], Err: err}
		}
		return e.finishBatch(f.b, f.x, &usable)
	}
	if len(e.nets) == 1 { // on this goroutine
		for b := range e.order {
			x, err := e.beginBatch(ctx, b)
			if err != nil || x.Rows == 0 {
				return err
			}
			f := flight{b, x, make(chan error, 1)}
			f.done <- e.inferViews(e.nets[0], x, b)
			if err := settle(f); err != nil {
				return err
			}
		}
		return nil
	}
	var working sync.WaitGroup
	defer working.Wait()
	queues := make([]chan flight, len(e.nets))
	for i, net := range e.nets {
		queues[i] = make(chan flight, 1)
		defer close(queues[i])
		working.Go(func() {
			for f := range queues[i] {
				f.done <- e.inferViews(net, f.x, f.b)
			}
		})
	}
	var out []flight // at most one per network
	var stopped error
	for b := range e.order {
		x, err := e.beginBatch(ctx, b)
		if stopped = err; err != nil || x.Rows == 0 {
			break
		}
		if len(out) == len(queues) {
			if err := settle(out[0]); err != nil {
				return err
			}
			out = out[1:]
		}
		f := flight{b, x, make(chan error, 1)}
		queues[b.first/e.cfg.Batch%len(queues)] <- f
		out = append(out, f)
	}
	for _, f := range out {
		if err := settle(f); err != nil {
			return err
		}
	}
	return stopped
}

// beginBatch waits for the pixels of a batch and returns memory for its vectors. It returns no rows if the extraction
// must stop; runExtraction reports the reason.
func (e *extraction) beginBatch(ctx context.Context, b *batch) (x blas32.General, err error) {
	b.left.Wait()
	if ctx.Err() != nil {
		return x, nil
	}
	if gone := e.gone.Load(); gone != nil { // the storage failed, not the images
		return x, fmt.Errorf("backbone: %w", gone)
	}
	if bad := e.listBadImages(b); e.cfg.Strict && len(bad) > 0 { // do not run the network in vain
		return x, unusableError(bad[0])
	}
	width := len(e.cfg.configuredViews()) * e.nets[0].Dim()
	return blas32.General{Rows: b.n, Cols: width, Stride: width, Data: (<-e.spare)[:b.n*width]}, nil
}

// finishBatch checks the vectors of a batch and passes them to the writer.
func (e *extraction) finishBatch(b *batch, x blas32.General, usable *bool) error {
	checkFinite(x, b.reasons)
	bad := e.listBadImages(b)
	for _, w := range bad {
		clear(features.Row(x, w.Row-b.first))
	}
	*usable = *usable || len(bad) < b.n
	if e.cfg.Strict && len(bad) > 0 || !*usable && b.first+b.n >= min(probed, len(e.paths)) {
		return unusableError(bad[0])
	}
	e.free <- b
	e.rows <- vectors{x, bad}
	return nil
}

// listBadImages lists the images of a batch that have no vector.
func (e *extraction) listBadImages(b *batch) (bad []features.Bad) {
	for i, reason := range b.reasons[:b.n] {
		if reason != "" {
			bad = append(bad, features.Bad{Row: b.first + i, Path: e.paths[b.first+i], Reason: reason})
		}
	}
	return bad
}

func unusableError(b features.Bad) error { return fmt.Errorf("backbone: %s: %s", b.Path, b.Reason) }

// inferViews runs the network once for each view.
func (e *extraction) inferViews(net Network, x blas32.General, b *batch) error {
	size, dim := e.cfg.Preprocessing.Size(), net.Dim()
	for v := range e.cfg.configuredViews() {
		part := blas32.General{Rows: b.n, Cols: dim, Stride: x.Stride, Data: x.Data[v*dim:]}
		if err := net.Infer(part, b.pixels[v*e.cfg.Batch*size:][:b.n*size], b.n); err != nil {
			return err
		}
	}
	return nil
}

// writeBatches appends finished batches. After an error it only drains the channel.
func (e *extraction) writeBatches(start int) {
	bad := len(e.store.Bad())
	for v := range e.rows {
		if e.wrote == nil {
			if e.wrote = e.store.Append(v.x, v.bad); e.wrote != nil {
				e.stop()
			} else if bad += len(v.bad); e.observe != nil {
				e.observe(Progress{Done: e.store.Rows(), Total: len(e.paths), Resumed: start, Bad: bad})
			}
		}
		e.spare <- v.x.Data[:cap(v.x.Data)]
	}
}

// checkFinite sets a reason for each image whose vector contains NaN or an infinity. A stored vector of this kind
// would corrupt every similarity with it.
func checkFinite(x blas32.General, reasons []string) {
	for i := range x.Rows {
		for j, v := range features.Row(x, i) {
			if v-v != 0 && reasons[i] == "" { // infinite or not a number
				reasons[i] = fmt.Sprintf("value %d of its features is %v, expected a finite number", j, v)
			}
		}
	}
}
