package folder

import (
	"fmt"
	"io"
	"path/filepath"
)

// Write writes the result for people; patience is that of the run.
func (result Result) Write(w io.Writer, patience int) {
	if result.Validation != nil {
		result.Validation.Print(w)
	}
	fmt.Fprintln(w, result.Verdict)
	if result.Stopped {
		fmt.Fprintf(w, "stopped early after step %d, as the last %d validations were no better\n", result.Steps, patience)
	}
	if n := result.Corrected; n != nil {
		fmt.Fprintf(w, "%d corrections of labels: %s\n", *n, filepath.Join(result.Run, CorrectionsFile))
	}
	if result.IdleTooOften() {
		fmt.Fprintf(w, "in %d of %d steps no loss had anything to learn from: no pairs in the batch, none that costs anything, or no label that the filter keeps; --batch PxK wants two images of a class and two classes\n", result.Idle, result.Steps)
	}
	files := result.Head
	if result.Backbone != "" {
		files += " on " + result.Backbone
	}
	if result.BestStep >= 0 {
		fmt.Fprintf(w, "%s: the state after step %d of %d\n", files, result.BestStep, result.Steps)
	} else {
		fmt.Fprintf(w, "%s: the state after step %d, the last\n", files, result.Steps)
	}
}
