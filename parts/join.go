package parts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"winnow/datasets/location"
	"winnow/internal/hint"
)

// JoinOptions are those of every join; Progress and Note are set.
type JoinOptions struct {
	Overwrite bool   // replace what stands where the output goes
	To        string // where the output of parts in an object store goes instead; "": beside them
	Progress  func(done, total int)
	Note      func(format string, args ...any)
	Runtime   func() (io.Closer, error) // has matrices multiplied fast until it is closed, by joins that compute
}

// Result is what a join has made, for people and as JSON.
type Result interface{ Write(io.Writer) error }

// Joiner puts the parts of a job together.
type Joiner struct {
	// Join writes the output. All parts are there, of one job, and whole but for what Sums names.
	Join func(ctx context.Context, w *Whole, o JoinOptions) (Result, error)

	Sums string // the file of parts that are folders whose sum Join compares while it copies the file; "": none
}

// Join finds the parts of an output, verifies them and lets the joiner of their job put them together. Of a job of two passes these are
// those of the first ([First]) until there are some of the second.
func Join(ctx context.Context, out string, joiners map[string]Joiner, o JoinOptions) (Result, error) {
	w, err := Look(ctx, out)
	if errors.Is(err, fs.ErrNotExist) {
		if first, of := Look(ctx, First(Out(out))); !errors.Is(of, fs.ErrNotExist) {
			w, err = first, of
		}
	}
	if err != nil {
		return nil, hint.With(err, "name the output that the parts are of, or the folder of its parts: both machines and join must see it")
	}
	join := joiners[w.Job]
	if err := w.verify(ctx, join.Sums); err != nil {
		return nil, err
	}
	if o.To != "" {
		if !location.At(w.Out).IsRemote() {
			return nil, hint.Misused("--out: found parts on this machine, expected some in an object store: others are joined beside them")
		}
		w.Out = o.To
	}
	if join.Join == nil {
		return nil, fmt.Errorf("parts: %s: made by winnow %s, expected one of %s", Dir(out), w.Job, strings.Join(slices.Sorted(maps.Keys(joiners)), ", "))
	}
	versions := map[string]bool{}
	for _, p := range w.Parts {
		versions[p.Winnow] = true
	}
	if len(versions) > 1 {
		o.Note("the parts were made by different versions of winnow: %s", strings.Join(slices.Sorted(maps.Keys(versions)), ", "))
	}
	return join.Join(ctx, w, o)
}
