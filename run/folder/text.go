package folder

import (
	"fmt"
	"io"

	"winnow/run/config"
)

// Write writes the result as text.
func (r Result) Write(w io.Writer) {
	if r.Validation != nil {
		r.Validation.Print(w, "validation")
	}
	fmt.Fprintln(w, r.Verdict)
	if r.Stopped {
		fmt.Fprintf(w, "stopped early after step %d, as the last %d validations were no better\n", r.Steps, r.Patience)
	}
	if r.IdleTooOften() {
		fmt.Fprintf(w, "in %d of %d steps every loss was 0: the batch had no pairs, no pair with a loss, or no label "+
			"that the filter keeps; %s needs at least two classes of two images\n", r.Idle,
			r.Steps,
			config.Key("sampler=PxK"))
	}
	files := r.Head
	if r.Backbone != "" {
		files += " on " + r.Backbone
	}
	if r.BestStep >= 0 {
		fmt.Fprintf(w, "%s: the state after step %d of %d\n", files, r.BestStep, r.Steps)
	} else {
		fmt.Fprintf(w, "%s: the state after step %d, the last\n", files, r.Steps)
	}
}
