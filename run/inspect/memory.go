package inspect

import (
	"fmt"

	"winnow/audit"
	"winnow/audit/crossfit"
	"winnow/audit/judges"
	"winnow/datasets"
	"winnow/features"
	"winnow/head"
	"winnow/internal/budget"
)

// countAuditMemory counts the memory of an audit. Its vectors have judged values each, and are made from features of
// stored values; stored 0 means vectors of a run, in memory. Large matrices stay in files ([features.Spill]), features
// in their store.
func countAuditMemory(images, stored, judged, classes int, scorer string) budget.Use {
	n, vectors := int64(images), int64(images)*int64(4*judged)
	again := vectors // a second copy, of a judge that whitens them
	if vectors >= features.SpillFrom {
		if again = 0; stored > 0 {
			vectors = 0
		}
	}
	judging := vectors + n*budget.Named
	switch fitting := again + judges.Fitting(images, classes); scorer {
	case audit.Crossfit:
		judging += crossfit.Held(images, max(stored, judged), classes)
	case judges.Combined:
		judging += 2*fitting + crossfit.Held(images, max(stored, judged), classes)
	case judges.SelfConfidence, judges.Confident:
		judging += 2*int64(images)*int64(4*judged) + n*int64(8*classes)
	default:
		judging += fitting
	}
	return budget.Use{What: fmt.Sprintf("audit: %d images of %d values", images, judged),
		Beside: vectors + n*(budget.Named+budget.Told), Other: judging, Row: 4 * n}
}

// chooseJudge takes the default judge if it fits into memory, else the default of those that train nothing.
func (o *auditing) chooseJudge(d *datasets.Dataset, whitened, stored, judged int) error {
	memory := o.MaxMem
	o.Scorer = judges.Default
	err := o.limitMemory(d, whitened, stored, judged)
	if err == nil || o.Tune != nil { // fitted cannot use networks
		return err
	}
	o.Scorer, o.MaxMem = judges.Fitted, memory
	if o.limitMemory(d, whitened, stored, judged) != nil {
		return err
	}
	o.Note("judged by %s, not by %s, which finds more: %v", judges.Fitted, judges.Default, err)
	return nil
}

// limitMemory replaces the memory of the whole audit by what is left for similarities. whitened is the number of values
// of the features that are whitened, 0 if none are.
func (o *auditing) limitMemory(d *datasets.Dataset, whitened, stored, judged int) (err error) {
	images := len(d.Samples)
	if !o.IncludeEval {
		images = len(d.Select(datasets.Train))
	}
	u := countAuditMemory(images, stored, judged, len(d.Classes), o.Scorer)
	u.Other += head.Need(images, whitened, head.Widest)
	o.MaxMem, err = u.With(o.Held).Similarities(o.MaxMem)
	return err
}
