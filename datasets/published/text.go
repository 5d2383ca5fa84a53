package published

import (
	"fmt"
	"io"

	"winnow/datasets"
)

// Write reports what was read and how it differs from what was published, with warnings on errs; given is the name
// of the list of noisy labels.
func (r *Result) Write(w, errs io.Writer, preset Preset, given string) {
	fmt.Fprintf(w, "%s, protocol %s: %s\n", preset.Title, r.Protocol, preset.Protocols[r.Protocol].Note)
	r.Dataset.WriteCounts(w)
	if r.LeftOut > 0 {
		fmt.Fprintf(w, "%-10s %7d images, which are in no split of the protocol\n", "left out", r.LeftOut)
	}
	if r.NotListed > 0 {
		fmt.Fprintf(w, "%-10s %7d training images, which %s does not list\n", "left out", r.NotListed, given)
	}
	if r.Dataset.HasTruth(datasets.Train) {
		r.Dataset.Noise(datasets.Train).Write(w, datasets.Train)
	}
	for _, note := range r.Notes {
		fmt.Fprintln(w, note)
	}
	for _, text := range r.Warnings {
		fmt.Fprintf(errs, "winnow: warning: %s, %s: %s\n", preset.Name, r.Protocol, text)
	}
}
