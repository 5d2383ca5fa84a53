package extraction

import (
	"context"
	"fmt"
	"io"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/features"
	"winnow/internal/budget"
	"winnow/internal/text"
)

// tried is the number of batches that a dry run times, after a first batch that is slower and is not timed. Up to two
// of the timed batches are read while the first batch is computed.
const tried = 8

// DryRun estimates the time and memory of an extraction on this machine from some of its images, as printed by `winnow
// extract --dry-run --json`.
type DryRun struct {
	Images    int     `json:"images"` // number of images of the extraction, or of its shard
	Views     int     `json:"views"`
	Dim       int     `json:"dim"`
	Bytes     int64   `json:"bytes"` // size of all vectors
	Tried     int     `json:"tried"` // number of embedded images, evenly spread over the list
	Bad       int     `json:"unreadable"`
	Device    string  `json:"device"`
	Batch     int     `json:"batch"`
	PerSecond float64 `json:"images_per_second"`
	Seconds   float64 `json:"seconds"` // for all images at PerSecond
	Memory    int64   `json:"memory"`  // peak of the process; 0: unknown on this system
}

// DryRun computes the vectors of some images, discards them, and estimates time and memory for all images.
func (e *Extraction) DryRun(ctx context.Context, h Host) (DryRun, error) {
	return e.tryBatches(ctx, h, tried)
}

// Expect estimates the duration of the extraction by embedding a few batches; tried is the number of their images. It
// returns 0 for fewer than quick images, and if the store exists, finished or not, because some images may be done.
func (e *Extraction) Expect(ctx context.Context, h Host) (took time.Duration, tried int, err error) {
	if _, ok := features.KeyIn(e.Out); len(e.Paths) < quick || ok && !e.Overwrite {
		return 0, 0, nil
	}
	r, err := e.tryBatches(ctx, h, expecting)
	return time.Duration(r.Seconds * float64(time.Second)), r.Tried, err
}

const (
	expecting = 2   // number of timed batches
	quick     = 128 // number of images that take only seconds
)

// tryBatches embeds a first batch, then times this number of batches.
func (e *Extraction) tryBatches(ctx context.Context, h Host, batches int) (DryRun, error) {
	rt, net, err := e.loadNetwork(h.Complete())
	if err != nil {
		return DryRun{}, err
	}
	defer net.Close()
	n := min(len(e.Paths), (1+batches)*e.Config.Batch)
	sample := make([]string, n)
	for i := range sample {
		sample[i] = e.Paths[i*len(e.Paths)/n]
	}
	times, rows := []time.Time{time.Now()}, []int{0} // time and number of done images: at the start, after each batch
	w := &unkept{}
	err = backbone.Extract(ctx, e.Config, net, e.Root, sample, w, func(at backbone.Progress) {
		times, rows = append(times, time.Now()), append(rows, at.Done)
	})
	if err != nil {
		return DryRun{}, err
	}
	from, last := 0, len(times)-1
	if last > 1 {
		from = 1
	}
	r := DryRun{Images: len(e.Paths), Views: len(e.Config.ViewNames()), Dim: net.Dim(), Tried: n, Bad: len(w.bad),
		Device: rt.Where(), Batch: e.Config.Batch, Memory: budget.Peak()}
	size := int64(4)
	if e.DType == features.Float16 {
		size = 2
	}
	r.Bytes = int64(r.Images) * int64(r.Views) * int64(r.Dim) * size
	r.PerSecond = float64(rows[last]-rows[from]) / times[last].Sub(times[from]).Seconds()
	r.Seconds = float64(r.Images) / r.PerSecond
	return r, nil
}

// unkept is a backbone.RowWriter that discards vectors.
type unkept struct {
	rows int
	bad  []features.Bad
}

func (u *unkept) Rows() int           { return u.rows }
func (u *unkept) Bad() []features.Bad { return u.bad }
func (u *unkept) Flush() error        { return nil }

func (u *unkept) Append(x blas32.General, bad []features.Bad) error {
	u.rows, u.bad = u.rows+x.Rows, append(u.bad, bad...)
	return nil
}

// Write writes the estimate as text.
func (r DryRun) Write(w io.Writer) error {
	held := ""
	if r.Memory > 0 {
		held = ", with a memory peak of " + text.Approx(r.Memory)
	}
	_, err := fmt.Fprintf(w, "%d images × %d views × %d values: %s\n%d of them tried, %d unreadable: %.1f "+
		"images/s on %s, "+
		"%d at once%s\nall images: about %s on such a machine\n", r.Images, r.Views, r.Dim, text.Approx(
		r.Bytes), r.Tried, r.Bad,
		r.PerSecond, r.Device, r.Batch, held, text.About(time.Duration(r.Seconds*float64(time.Second))))
	return err
}
