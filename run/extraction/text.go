package extraction

import (
	"fmt"
	"io"
	"path/filepath"

	"winnow/features"
	"winnow/internal/text"
)

// Write writes the result as text. It lists at most listed unreadable images.
func (r Result) Write(w io.Writer, listed int) {
	fmt.Fprintf(w, "%s: %d images × ", r.Store, r.Rows)
	if len(r.Views) > 1 {
		fmt.Fprintf(w, "%d views × ", len(r.Views))
	}
	fmt.Fprintf(w, "%d values of %s, tensor %q", r.Dim, r.Model, r.Output)
	if r.DType != features.Float32 {
		fmt.Fprintf(w, ", as %s", r.DType)
	}
	fmt.Fprintln(w)
	if r.Shard != "" {
		fmt.Fprintf(w, "shard %s; when all shards are finished, run: winnow join %s\n", r.Shard, r.whole)
	}
	if r.Complete {
		fmt.Fprintln(w, "the store was complete: nothing to do")
	} else {
		fmt.Fprintf(w, "%d images in %.1f s: %.1f images/s on %s\n", r.Rows-r.Resumed, r.Seconds, r.PerSecond, r.Device)
	}
	if len(r.Bad) == 0 {
		return
	}
	fmt.Fprintf(w, "%d unreadable, left out of training and evaluation:\n", len(r.Bad))
	for _, b := range text.First(r.Bad, listed) {
		fmt.Fprintf(w, "  %s: %s\n", text.Line(b.Path), text.Line(b.Reason))
	}
	if len(r.Bad) > listed {
		fmt.Fprintf(w, "  … all of them are in %s\n", filepath.Join(r.Store, "store.json"))
	}
	if r.Complete {
		fmt.Fprintln(w, "they were not tried again: --overwrite reads all images again")
	}
}
