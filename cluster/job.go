package cluster

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"winnow/datasets/location"
	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/regular"
	"winnow/internal/text"
)

// Job is work over rows that machines share. Each machine makes the part of a shard with [Job.Do], or with [Job.Fill]
// if parts are folders; one machine merges the values of all parts with [Join]. Values are stored by encoding/gob.
type Job[Value any] struct {
	Name string // of the command
	Unit string // what the rows are: "images"

	// Merge makes the output from the values of all parts, in the order of the rows. All parts are complete.
	Merge func(ctx context.Context, w *Whole, values iter.Seq2[Value, error], o JoinOptions) (Result, error)
}

// Rows describe the rows of a job and all that its result depends on.
type Rows struct {
	Total, Batch int               // rows, and how many stay together in a part
	Inputs       map[string]string // sha256 by name
	Settings     map[string]string // by name
	Winnow       string            // version of the program
}

// partHeader describes the part of a shard.
func (j Job[V]) partHeader(s Shard, r Rows) (Header, error) {
	first, end, err := s.Range(r.Total, r.Batch)
	if err != nil {
		return Header{}, fmt.Errorf("%s: %w", j.Name, err)
	}
	return Header{Format: format, Job: j.Name, Shard: s.Index, Of: s.Of, First: first, End: end,
		Total: r.Total, Unit: j.Unit, Inputs: r.Inputs, Settings: r.Settings, Winnow: r.Winnow}, nil
}

// Do makes a shard's part of the output out, unless it exists. It calls do for the rows from first to before end, which
// puts the part's values. If parts of another job are there, Do returns an error before anything is computed.
func (j Job[V]) Do(ctx context.Context, out location.Source, s Shard, r Rows,
	do func(first, end int, put func(V) error) error) (Made, error) {
	h, err := j.partHeader(s, r)
	if err != nil {
		return Made{}, err
	}
	return makePart(ctx, out, h, false, writeValues(func(put func(V) error) error { return do(h.First, h.End, put) }))
}

// writeValues returns a function that writes the values that do puts into a part's folder.
func writeValues[V any](do func(put func(V) error) error) func(at string) error {
	return func(at string) error {
		return atomicfile.Write(filepath.Join(at, valuesFile), func(w io.Writer) error {
			to := gob.NewEncoder(w)
			return do(func(v V) error { return to.Encode(v) })
		})
	}
}

// Fill makes a shard's part, unless it exists: fill writes its files into the folder at. A part that was begun is
// continued. With overwrite existing parts are ignored.
func (j Job[V]) Fill(ctx context.Context, out location.Source, s Shard, r Rows, overwrite bool,
	fill func(at string) error) (Made, error) {
	h, err := j.partHeader(s, r)
	if err != nil {
		return Made{}, err
	}
	return makePart(ctx, out, h, overwrite, fill)
}

// Values reads the values of all parts, in the order of the rows.
func (j Job[V]) Values(w *Whole) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		for i := range w.Parts {
			err := readValues(&w.Parts[i], func(v V) bool { return yield(v, nil) })
			if errors.Is(err, errStop) {
				return
			}
			if err != nil {
				yield(*new(V), err)
				return
			}
		}
	}
}

// readValues reads a part's values until take returns false.
func readValues[V any](p *Part, take func(V) bool) error {
	f, err := regular.Open(p.Path.Join(valuesFile).Path())
	if err != nil {
		return err
	}
	defer f.Close()
	for from := gob.NewDecoder(bufio.NewReader(f)); ; {
		var v V
		switch err := from.Decode(&v); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("parts: %s: %w: was it made by another version of winnow?", p.Path, err)
		case !take(v):
			return errStop
		}
	}
}

var errStop = errors.New("cluster: the caller wants no more values")

// All collects values, or returns the first error.
func All[V any](values iter.Seq2[V, error]) (list []V, err error) {
	for v, err := range values {
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// JoinOptions configure every join. Progress and Note must be set.
type JoinOptions struct {
	Overwrite bool // replace what is at the output
	Progress  func(done, total int)
	Note      func(format string, args ...any)
}

// Result is the outcome of a part or a join, for people and as JSON.
type Result interface{ Write(io.Writer) error }

// Save writes a result as JSON, unless file is "".
func Save(file string, r Result) error {
	if file == "" {
		return nil
	}
	return atomicfile.Write(file, func(w io.Writer) error { return text.JSON(w, r) })
}

// Joiner is a [Job] with values of any type.
type Joiner interface {
	jobLabel() string
	mergeParts(ctx context.Context, w *Whole, o JoinOptions) (Result, error)
}

func (j Job[V]) jobLabel() string { return j.Name }
func (j Job[V]) mergeParts(ctx context.Context, w *Whole, o JoinOptions) (Result, error) {
	return j.Merge(ctx, w, j.Values(w), o)
}

// Join finds the parts of an output, verifies them and lets their job, one of known, merge them.
func Join(ctx context.Context, out location.Source, known []Joiner, o JoinOptions) (Result, error) {
	w, err := lookForParts(out)
	if err != nil {
		return nil, hint.With(err, "name the output that the parts are of, or the folder of its parts: both "+
			"machines and join must see it")
	}
	at := slices.IndexFunc(known, func(j Joiner) bool { return j.jobLabel() == w.Job })
	if err := w.Verify(ctx); err != nil {
		return nil, err
	}
	if at < 0 {
		var names []string
		for _, j := range known {
			names = append(names, j.jobLabel())
		}
		slices.Sort(names)
		return nil, fmt.Errorf("parts: %s: made by winnow %s, expected one of %s", Dir(out), w.Job,
			strings.Join(names, ", "))
	}
	versions := map[string]bool{}
	for _, p := range w.Parts {
		versions[p.Winnow] = true
	}
	if len(versions) > 1 {
		o.Note("the parts were made by different versions of winnow: %s",
			strings.Join(slices.Sorted(maps.Keys(versions)), ", "))
	}
	return known[at].mergeParts(ctx, w, o)
}

// Unchanged returns an error if an input has changed since the parts were made.
func (w *Whole) Unchanged(inputs map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		if was, now := w.Inputs[name], inputs[name]; was != now {
			return fmt.Errorf("%s: %s changed since the parts of %s were made: found %.12s…, expected %.12s…",
				w.Job, name, w.Out, now, was)
		}
	}
	return nil
}
