package cluster

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"winnow/datasets/location"
	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/text"
)

// Job is work on rows that machines share. Each machine makes the part of a shard with [Job.Fill]; one machine merges
// all parts with [Join].
type Job struct {
	Name string // name of the command
	Unit string // name of the rows, such as "images"

	// Merge makes the output from all parts, which are complete, in the order of the rows.
	Merge func(ctx context.Context, w *Whole, o JoinOptions) (Result, error)
}

// Rows describes the rows of a job and everything else on which its result depends.
type Rows struct {
	Total, Batch int               // number of rows, and size of a batch that is never divided
	Inputs       map[string]string // sha256 by name
	Settings     map[string]string // values by name
	Winnow       string            // version of the program
}

// partHeader returns the header of a shard's part.
func (j Job) partHeader(s Shard, r Rows) (Header, error) {
	first, end, err := s.Range(r.Total, r.Batch)
	if err != nil {
		return Header{}, fmt.Errorf("%s: %w", j.Name, err)
	}
	return Header{Format: format, Job: j.Name, Shard: s.Index, Of: s.Of, First: first, End: end,
		Total: r.Total, Unit: j.Unit, Inputs: r.Inputs, Settings: r.Settings, Winnow: r.Winnow}, nil
}

// Fill makes a shard's part unless it exists; fill writes the files into the folder at. An unfinished part is
// continued. With overwrite, existing parts are ignored.
func (j Job) Fill(ctx context.Context, out location.Source, s Shard, r Rows, overwrite bool,
	fill func(at string) error) (Made, error) {
	h, err := j.partHeader(s, r)
	if err != nil {
		return Made{}, err
	}
	return makePart(ctx, out, h, overwrite, fill)
}

// JoinOptions are the settings of all joins. Progress and Note must be set.
type JoinOptions struct {
	Overwrite bool // replace an existing output
	Progress  func(done, total int)
	Note      func(format string, args ...any)
}

// Result is the outcome of a part or a join, as text and as JSON.
type Result interface{ Write(io.Writer) error }

// Save writes a result as JSON, unless file is "".
func Save(file string, r Result) error {
	if file == "" {
		return nil
	}
	return atomicfile.Write(file, func(w io.Writer) error { return text.JSON(w, r) })
}

// Join finds, verifies and merges the parts of a job's output.
func Join(ctx context.Context, out location.Source, job Job, o JoinOptions) (Result, error) {
	w, err := lookForParts(out)
	if err != nil {
		return nil, hint.With(err, "name the output, or the folder of its parts, on a volume "+
			"that all machines can read")
	}
	if err := w.Verify(ctx); err != nil {
		return nil, err
	}
	if w.Job != job.Name {
		return nil, fmt.Errorf("parts: %s: parts of winnow %s, expected %s", Dir(out), w.Job, job.Name)
	}
	versions := map[string]bool{}
	for _, p := range w.Parts {
		versions[p.Winnow] = true
	}
	if len(versions) > 1 {
		o.Note("the parts were made by different versions of winnow: %s",
			strings.Join(slices.Sorted(maps.Keys(versions)), ", "))
	}
	return job.Merge(ctx, w, o)
}
