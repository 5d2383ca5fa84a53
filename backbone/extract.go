package backbone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// ExtractConfig describes how images become vectors.
type ExtractConfig struct {
	Preprocessing Preprocessing
	Batch         int  // images per run of the network; batches are always made of the same images
	Workers       int  // goroutines that decode; 0: one per core
	MaxPixels     int  // largest picture; 0: DefaultMaxPixels
	Strict        bool // stop at the first unreadable image
	Known         bool // other images of this root were readable: go on even if none of the first are

	// Looked is called, from several goroutines, with what was measured of each decoded picture; nil: nothing is
	// measured.
	Looked func(image int, l Look)

	// Views are the pictures made of each image; none: the centre alone. An image is decoded once for all its
	// views.
	Views []View
}

func (cfg ExtractConfig) configuredViews() []View {
	if len(cfg.Views) == 0 {
		return []View{centreView()}
	}
	return cfg.Views
}

// RowWriter stores batches of vectors in the order of the images. A row is one image: the vectors of its views
// side by side. [features.Writer] is one.
type RowWriter interface {
	Rows() int           // rows from an earlier run: the extraction begins after them
	Bad() []features.Bad // unreadable images among them
	Append(x blas32.General, bad []features.Bad) error
	Flush() error
}

// Progress is the state of an extraction, reported after every batch.
type Progress struct {
	Done, Total int // images, including those of an earlier run
	Resumed     int // images of an earlier run
	Bad         int // unreadable images among those done
}

// slots is the number of pixel batches in memory: one in the network and two being filled, so that neither the
// network nor the decoders wait between batches. It bounds the memory. A batch of several views takes several
// runs of the network, so one batch being filled is then enough.
const slots = 3

func (cfg ExtractConfig) countSlots() int {
	if len(cfg.Views) > 1 {
		return slots - 1
	}
	return slots
}

// Extract computes the vector of every image and writes them to the store in batches.
//
// Workers decode and preprocess in parallel, the calling goroutine runs the network on the batch before, and a
// third goroutine writes. If the network is on several devices ([Lanes]), the devices take batches in turn;
// results are taken in order. Batch k is always images k·Batch … k·Batch+Batch-1, so an extraction that is
// stopped and resumed computes the same bits as one that is not. Each view of a batch is a run of its own, so
// its vectors have the same bits as if it were the only view.
//
// An image that is unreadable, or whose vector is not finite, keeps a row of zeros and is listed with its
// reason. If none of the first images can be read, nothing is started; if none of them has a finite vector, the
// extraction ends. It also ends, before the batch, when the images' storage fails ([regular.Outage]). On
// cancellation the current batch is finished and everything is flushed. observe may be nil.
func Extract(ctx context.Context, cfg ExtractConfig, net Network, fsys fs.FS, paths []string, store RowWriter,
	observe func(Progress)) error {
	if cfg.Batch < 1 || cfg.Workers < 0 {
		return fmt.Errorf("backbone: extract: batch %d with %d workers, expected at least one image a batch",
			cfg.Batch, cfg.Workers)
	}
	start := store.Rows()
	if start > len(paths) || start%cfg.Batch != 0 && start != len(paths) {
		return fmt.Errorf("backbone: extract: %d of %d rows are there, expected whole batches of %d",
			start, len(paths), cfg.Batch)
	}
	inner, stop := context.WithCancel(ctx)
	defer stop()
	readers, err := newReaders(cfg, fsys)
	if err != nil {
		return err
	}
	e := &extraction{cfg: cfg, nets: listLanes(net), paths: paths, store: store, observe: observe, stop: stop}
	e.pinner, _ = net.(Pinner)
	if start == 0 && !cfg.Known {
		if e.ahead, e.pixels, err = readers[0].probeImages(paths); err != nil {
			return cmp.Or(ctx.Err(), err)
		}
		e.seen = readers[0].last
	}
	if err = e.runExtraction(inner, readers, start); err == nil && store.Rows() < len(paths) {
		err = ctx.Err()
	}
	if e.wrote != nil {
		return e.wrote // Flush would only repeat it
	}
	return errors.Join(err, store.Flush())
}

// NetworkError means that a network did not run on a batch of images.
type NetworkError struct {
	Images []string // their paths
	Err    error
}

func (e *NetworkError) Error() string {
	if len(e.Images) == 1 {
		return fmt.Sprintf("backbone: the network stopped at %q: %v", e.Images[0], e.Err)
	}
	return fmt.Sprintf("backbone: the network stopped at the %d images from %q to %q: %v", len(e.Images), e.Images[0],
		e.Images[len(e.Images)-1], e.Err)
}

func (e *NetworkError) Unwrap() error { return e.Err }

func newReaders(cfg ExtractConfig, fsys fs.FS) ([]*reader, error) {
	n := cmp.Or(cfg.Workers, runtime.GOMAXPROCS(0))
	readers := make([]*reader, n)
	options := cfg.Preprocessing.DecodeOptions()
	options.MaxPixels = cfg.MaxPixels
	for i := range readers {
		viewers, err := newViewers(cfg.Preprocessing, cfg.configuredViews())
		if err != nil {
			return nil, err
		}
		readers[i] = &reader{fsys: fsys, views: cfg.configuredViews(), viewers: viewers, options: options,
			looks: cfg.Looked != nil}
	}
	return readers, nil
}
