package cluster

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"winnow/datasets/location"
	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/lock"
	"winnow/internal/text"
)

// Job is work over rows that machines share: each makes the part of a shard with [Job.Do], or [Job.Fill] for parts
// that are folders, and one machine merges the values of all parts with [Join]. Values are stored by encoding/gob.
type Job[Value any] struct {
	Name string // of the command
	Unit string // what the rows are: "images"

	// Merge makes the output from the values of all parts, in the order of the rows. All parts are there and whole.
	Merge func(ctx context.Context, w *Whole, values iter.Seq2[Value, error], o JoinOptions) (Result, error)

	Copied string // file in parts that are folders whose sum Merge compares while copying it; "": none
}

// Rows are what a job is over, and all that its result depends on.
type Rows struct {
	Total, Batch int               // rows, and how many of them stay together
	Inputs       map[string]string // sha256 by name
	Settings     map[string]string // by name
	Winnow       string            // version of the program
}

// header describes the part of a shard.
func (j Job[V]) header(s Shard, r Rows) (Header, error) {
	first, end, err := s.Range(r.Total, r.Batch)
	if err != nil {
		return Header{}, fmt.Errorf("%s: %w", j.Name, err)
	}
	return Header{Format: format, Job: j.Name, Shard: s.Index, Of: s.Of, First: first, End: end,
		Total: r.Total, Unit: j.Unit, Inputs: r.Inputs, Settings: r.Settings, Winnow: r.Winnow}, nil
}

// Do makes a shard's part of the output out, unless it is there. do gets the rows, from first to before end, and puts
// the values of the part. Parts of another job at the same place are an error before anything is computed.
func (j Job[V]) Do(ctx context.Context, out string, s Shard, r Rows,
	do func(first, end int, put func(V) error) error) (Made, error) {
	h, err := j.header(s, r)
	if err != nil {
		return Made{}, err
	}
	return write(ctx, out, h, func(w io.Writer) error {
		to := gob.NewEncoder(w)
		return do(h.First, h.End, func(v V) error { return to.Encode(v) })
	})
}

// Fill makes a shard's part that is a folder, unless it is there: fill writes its files into the folder at. A begun
// part continues where it was. With overwrite other parts do not matter. If the output is in an object store, the
// part is made in a temporary folder, the same for the same part.
func (j Job[V]) Fill(ctx context.Context, out string, s Shard, r Rows, overwrite bool,
	fill func(at string) error) (Made, error) {
	h, err := j.header(s, r)
	if err != nil {
		return Made{}, err
	}
	m := h.made(out)
	at, state, err := begin(ctx, out, h, overwrite)
	if m.Complete = state == Present; err != nil || m.Complete {
		return m, err
	}
	if err := fill(at); err != nil {
		return m, err
	}
	return m, finish(ctx, out, h, at)
}

// Values reads the values of all parts, in the order of the rows.
func (j Job[V]) Values(w *Whole) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		for i := range w.Parts {
			p := &w.Parts[i]
			err := p.read(func(r io.Reader) error {
				for from := gob.NewDecoder(r); ; {
					var v V
					switch err := from.Decode(&v); {
					case errors.Is(err, io.EOF):
						return nil
					case err != nil:
						return fmt.Errorf("%w: was it made by another version of winnow?", err)
					case !yield(v, nil):
						return errStop
					}
				}
			})
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

var errStop = errors.New("cluster: no more values are asked for")

// All collects values, or returns their error.
func All[V any](values iter.Seq2[V, error]) (list []V, err error) {
	for v, err := range values {
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// Once returns a value that the parts of an output need, and its sha256. The machine that needs it first makes it;
// others wait for it and read it. The value is the only part of out, a file beside the parts that need it.
func (j Job[V]) Once(ctx context.Context, out string, r Rows, compute func() (V, error)) (v V, sum string, err error) {
	h, err := j.header(Shard{Index: 1, Of: 1}, r)
	if err == nil {
		err = os.MkdirAll(Dir(out), 0o755)
	}
	if err != nil {
		return v, "", err
	}
	for {
		if p, err := standing(ctx, out, h); err != nil || p.State == Present {
			break // write reports the error
		}
		held, err := lock.Folder(Dir(out))
		if _, busy := errors.AsType[*lock.Held](err); !busy {
			if err == nil { // else the file system has no locks, and several machines may make the value
				defer held.Close()
			}
			break
		}
		select {
		case <-ctx.Done():
			return v, "", ctx.Err()
		case <-time.After(time.Second):
		}
	}
	if _, err = write(ctx, out, h, func(w io.Writer) error {
		v, err := compute()
		if err != nil {
			return err
		}
		return gob.NewEncoder(w).Encode(v)
	}); err != nil {
		return v, "", err
	}
	return j.Made(ctx, out)
}

// Made reads the value that [Job.Once] made.
func (j Job[V]) Made(ctx context.Context, out string) (v V, sum string, err error) {
	w, err := Look(ctx, out)
	if err != nil {
		return v, "", err
	}
	for v, err = range j.Values(w) {
		if err != nil {
			return v, "", err
		}
	}
	_, sum, err = digest(ctx, w.Parts[0].Path)
	return v, sum, err
}

// JoinOptions configure every join. Progress and Note are set.
type JoinOptions struct {
	Overwrite bool   // replace what stands where the output goes
	To        string // where the output of parts in an object store goes instead; "": beside them
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
	name() string
	copied() string
	merge(ctx context.Context, w *Whole, o JoinOptions) (Result, error)
}

func (j Job[V]) name() string   { return j.Name }
func (j Job[V]) copied() string { return j.Copied }
func (j Job[V]) merge(ctx context.Context, w *Whole, o JoinOptions) (Result, error) {
	return j.Merge(ctx, w, j.Values(w), o)
}

// Join finds the parts of an output, verifies them and lets their job, one of those known, merge them.
func Join(ctx context.Context, out string, known []Joiner, o JoinOptions) (Result, error) {
	w, err := Look(ctx, out)
	if err != nil {
		return nil, hint.With(err, "name the output that the parts are of, or the folder of its parts: both "+
			"machines and join must see it")
	}
	at := slices.IndexFunc(known, func(j Joiner) bool { return j.name() == w.Job })
	copied := ""
	if at >= 0 {
		copied = known[at].copied()
	}
	if err := w.verify(ctx, copied); err != nil {
		return nil, err
	}
	if at < 0 {
		var names []string
		for _, j := range known {
			names = append(names, j.name())
		}
		slices.Sort(names)
		return nil, fmt.Errorf("parts: %s: made by winnow %s, expected one of %s", Dir(out), w.Job,
			strings.Join(names, ", "))
	}
	if o.To != "" {
		if !location.At(w.Out).IsRemote() {
			return nil, hint.Misused("--out: found parts on this machine, expected some in an object store: " +
				"others are joined beside them")
		}
		w.Out = o.To
	}
	versions := map[string]bool{}
	for _, p := range w.Parts {
		versions[p.Winnow] = true
	}
	if len(versions) > 1 {
		o.Note("the parts were made by different versions of winnow: %s",
			strings.Join(slices.Sorted(maps.Keys(versions)), ", "))
	}
	return known[at].merge(ctx, w, o)
}

// Unchanged returns an error if an input of the parts is no longer the one that they were made of.
func (w *Whole) Unchanged(inputs map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		if was, now := w.Inputs[name], inputs[name]; was != now {
			return fmt.Errorf("%s: %s changed since the parts of %s were made: found %.12s…, expected %.12s…",
				w.Job, name, w.Out, now, was)
		}
	}
	return nil
}
