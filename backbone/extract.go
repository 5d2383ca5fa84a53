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

// ExtractConfig holds the settings for computing the vectors of images.
type ExtractConfig struct {
	Preprocessing Preprocessing
	Batch         int  // images per run of the network; batches are always made of the same images
	Workers       int  // goroutines that decode; 0: one per core
	MaxPixels     int  // largest image; 0: DefaultMaxPixels
	Strict        bool // stop at the first unreadable image
	Known         bool // images of this root were readable before: continue even if none of the first images is

	// Looked is called from several goroutines with the measurements of each decoded image. nil: no measurements.
	Looked func(image int, l Look)

	// Views are the views made of each image, which is decoded once for all of them; if empty, only the centre view.
	Views []View
}

func (cfg ExtractConfig) configuredViews() []View {
	if len(cfg.Views) == 0 {
		return []View{centreView()}
	}
	return cfg.Views
}

// RowWriter stores batches of vectors in the order of the images. A row belongs to one image and holds the vectors of
// its views one after another. [features.Writer] implements RowWriter.
type RowWriter interface {
	Rows() int           // rows from an earlier run: extraction starts after them
	Bad() []features.Bad // unreadable images among them
	Append(x blas32.General, bad []features.Bad) error
	Flush() error
}

// Progress is the state of an extraction. It is reported after every batch.
type Progress struct {
	Done, Total int // images, including those of an earlier run
	Resumed     int // images of an earlier run
	Bad         int // unreadable images among those done
}

// slots is the number of pixel batches in memory: one in the network and two being filled, so that neither the network
// nor the decoders wait between batches. A batch of several views keeps the network busy for several runs, so that one
// batch being filled suffices.
const slots = 3

func (cfg ExtractConfig) countSlots() int {
	if len(cfg.Views) > 1 {
		return slots - 1
	}
	return slots
}

// Extract computes the vector of every image and writes them to the store in batches.
// || Workers decode and preprocess in parallel, the calling goroutine runs the network on the previous batch, and a
// third goroutine writes. If the network runs on several devices ([Lanes]), the devices take batches in turn, and
// results are collected in order. Batch k always holds images k·Batch … k·Batch+Batch-1, so an extraction that is
// stopped and resumed computes the same bits as an uninterrupted one. The network runs once per view, so a view's
// vectors do not depend on the other views.
//
// An image that is unreadable, or whose vector is not finite, gets a row of zeros and is listed with its reason. If
// none of the first images can be read, Extract returns an error before it starts; if none of them has a finite
// vector, it stops. It also stops, before the batch, when the images' storage fails ([regular.Outage]). On
// cancellation it finishes the current batch and flushes all data. observe may be nil.
func Extract(ctx context.Context, cfg ExtractConfig, net Network, fsys fs.FS, paths []string, store RowWriter,
	observe func(Progress)) error {
	if cfg.Batch < 1 || cfg.Workers < 0 {
		return fmt.Errorf("backbone: extract: batch %d with %d workers, expected at least one image a batch",
			cfg.Batch, cfg.Workers)
	}
	start := store.Rows()
	if start > len(paths) || start%cfg.Batch != 0 && start != len(paths) {
		return fmt.Errorf("backbone: extract: the store has %d of %d rows, expected a multiple of the batch of %d",
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
		return e.wrote // Flush would only return the same error again
	}
	return errors.Join(err, store.Flush())
}

// NetworkError reports that the network failed on a batch of images.
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
