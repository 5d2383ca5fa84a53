package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"winnow/filters"
	"winnow/run/config"
	"winnow/run/folder"
)

// fewMembers is the number of training images below which a class is too small: its concentration, its mean and the
// votes of its members would be computed from only one to three images.
const fewMembers = 4

// listWarnings returns warnings about the training and the data that limit how far the page's numbers can be trusted.
// Warnings about too few images give the number required.
func (r *Run) listWarnings() (list []string) {
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if r.Result == nil {
		if last := r.lastStep(); last < r.Facts.Steps {
			say("The training is not finished: its log ends at step %d of %d.", last, r.Facts.Steps)
		} else {
			say("The training's result was not saved: there is no %s.", folder.ResultFile)
		}
	} else {
		if r.Result.Better != nil && !*r.Result.Better {
			say("On validation %s.", r.Result.Verdict)
		}
		if r.Result.Validation == nil {
			say("There is no validation split: the last state was kept, and early stopping was not possible.")
		}
		if r.Result.IdleTooOften() {
			say("In %d of %d steps no loss had a gradient: "+
				"a batch needs two images of a class, two classes, and labels that the filter keeps.",
				r.Result.Idle, r.Result.Steps)
		}
	}
	if r.Known[r.Split] != "" {
		say("The manifest has no test split: the numbers are from the %s split, which the training used.", r.Split)
	}
	var few []string
	for label, n := range r.trainLabels() {
		if n < fewMembers {
			few = append(few, r.names.Of(r.Manifest.Classes[label]))
		}
	}
	if slices.Sort(few); len(few) > 0 {
		say("%d of %d training classes have fewer than %d images, too few to score their labels: %s.",
			len(few), len(r.Facts.Classes), fewMembers, strings.Join(shortList(few, 8), ", "))
	}
	if n := len(r.measured.LeftOut); n > 0 {
		say("Images left out because they could not be read: %d. The first is %s: %s.",
			n, r.measured.LeftOut[0].Path, r.measured.LeftOut[0].Reason)
	}
	filter := r.Config.Filter
	if d := r.audited.Detection; d != nil && d.Samples > 0 &&
		filter.Scorer != config.NoFilter && filter.Threshold != filters.ThresholdFixed {
		told, is := r.Facts.WholeRate(filter.Rate.Share), float64(d.Wrong)/float64(d.Samples)
		if math.Abs(told-is) > farOff {
			say("The training assumed that %.0f %% of the labels are wrong, but %.0f %% are: "+
				"set the noise rate to %.2f or auto.", 100*told, 100*is, is)
		}
	}
	return list
}

// farOff is the largest difference between a filter's noise rate and the true rate that gives no warning.
const farOff = 0.15

// shortList returns at most n names of a list, followed by the number of names left out.
func shortList(names []string, n int) []string {
	if len(names) <= n {
		return names
	}
	return append(slices.Clone(names[:n]), fmt.Sprintf("and %d more", len(names)-n))
}
