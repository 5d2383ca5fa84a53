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

// tried is how many batches a dry run times, after a first one that takes longer and is not counted. Up to two of them
// are read while that one is computed.
const tried = 8

// DryRun estimates from some of the images what an extraction takes on this machine, as `winnow extract --dry-run
// --json` prints it.
type DryRun struct {
	Images    int     `json:"images"` // of the extraction, or of its shard
	Views     int     `json:"views"`
	Dim       int     `json:"dim"`
	Bytes     int64   `json:"bytes"` // of all vectors
	Tried     int     `json:"tried"` // images, evenly over the list
	Bad       int     `json:"unreadable"`
	Device    string  `json:"device"`
	Batch     int     `json:"batch"`
	PerSecond float64 `json:"images_per_second"`
	Seconds   float64 `json:"seconds"` // of all images at that rate
	Memory    int64   `json:"memory"`  // peak of the process; 0: unknown on this system
}

// DryRun computes the vectors of some images, discards them, and estimates what all images take.
func (e *Extraction) DryRun(ctx context.Context, h Host) (DryRun, error) {
	return e.tryBatches(ctx, h, tried)
}

// Expect estimates how long the extraction takes by embedding a few batches; tried counts their images. It returns 0
// for fewer than quick images, and if there is a store, finished or begun, since only some images may then be left.
func (e *Extraction) Expect(ctx context.Context, h Host) (took time.Duration, tried int, err error) {
	if _, ok := features.KeyIn(e.Out); len(e.Paths) < quick || ok && !e.Overwrite {
		return 0, 0, nil
	}
	r, err := e.tryBatches(ctx, h, expecting)
	return time.Duration(r.Seconds * float64(time.Second)), r.Tried, err
}

const (
	expecting = 2   // batches that are timed
	quick     = 128 // images, that take seconds
)

// tryBatches computes the vectors of some batches of images besides the first.
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
	times, rows := []time.Time{time.Now()}, []int{0} // at the start, and when each batch was done
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

// unkept discards vectors. It implements backbone.RowWriter.
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

// Write writes the outcome for people.
func (r DryRun) Write(w io.Writer) error {
	held := ""
	if r.Memory > 0 {
		held = ", and held " + text.Approx(r.Memory)
	}
	_, err := fmt.Fprintf(w, "%d images × %d views × %d values: %s\n%d of them tried, %d unreadable: %.1f "+
		"images/s on %s, "+
		"%d at once%s\nall: about %s on such a machine\n", r.Images, r.Views, r.Dim, text.Approx(
		r.Bytes), r.Tried, r.Bad,
		r.PerSecond, r.Device, r.Batch, held, text.About(time.Duration(r.Seconds*float64(time.Second))))
	return err
}
