package quickstart

import (
	"fmt"
	"strings"
)

// judge writes the verdict, good or bad, in plain words.
func (d *quickstart) judge() {
	r := &d.result
	for _, trio := range []*Trio{&r.Trio, &r.Chosen, &r.HeadOnly} {
		trio.judge()
	}
	say := func(format string, args ...any) { r.Verdict = append(r.Verdict, fmt.Sprintf(format, args...)) }
	say("Of %d training labels %d are wrong; winnow's scores tell wrong from right with an AUROC of %.3f (average "+
		"precision %.3f).", r.Detection.Samples, r.Detection.Wrong, r.Detection.AUROC, r.Detection.AP)
	if t := r.Trio; t.Recovered != nil {
		say("Fine-tuned on them, the network loses %.1f points of P@1 on unseen classes (%.1f %% with true labels, "+
			"%.1f %% without a filter); with PRISM it is %.1f %%: %.0f %% of the loss is recovered.",
			100*t.Cost, 100*t.Topline.PrecisionAt1, 100*t.Unfiltered.PrecisionAt1, 100*t.PRISM.PrecisionAt1,
			100**t.Recovered)
	} else {
		say("The wrong labels cost nothing here: P@1 on unseen classes is %.1f %% with true labels and %.1f %% with "+
			"noisy ones without a filter; with PRISM it is %.1f %%.",
			100*t.Topline.PrecisionAt1, 100*t.Unfiltered.PrecisionAt1, 100*t.PRISM.PrecisionAt1)
	}
	d.judgeUntrained(say)
	c := r.Chosen
	say("These are the last states of three trainings of equal length. If a validation split with true labels chooses "+
		"the state, P@1 is %.1f %% (true labels), %.1f %% (no filter) and %.1f %% (PRISM).",
		100*c.Topline.PrecisionAt1, 100*c.Unfiltered.PrecisionAt1, 100*c.PRISM.PrecisionAt1)
	if len(d.idle) > 0 {
		say("The untrained network with a whitened head is then kept if no state beats it on validation: %s.",
			strings.Join(d.idle, ", "))
	}
	h := r.HeadOnly
	say("With only a head trained, on fixed features, P@1 is %.1f %% (true labels), %.1f %% (no filter) and %.1f %% "+
		"(PRISM): fine-tuning the whole network %s.",
		100*h.Topline.PrecisionAt1, 100*h.Unfiltered.PrecisionAt1, 100*h.PRISM.PrecisionAt1,
		tunedAgainstHead(r.Trio, h))
}

// tunedAgainstHead says what training the whole network adds to training a head, for each of the three.
func tunedAgainstHead(tuned, head Trio) string {
	return fmt.Sprintf("changes that by %+.1f, %+.1f and %+.1f points",
		100*(tuned.Topline.PrecisionAt1-head.Topline.PrecisionAt1),
		100*(tuned.Unfiltered.PrecisionAt1-head.Unfiltered.PrecisionAt1),
		100*(tuned.PRISM.PrecisionAt1-head.PRISM.PrecisionAt1))
}

// judgeUntrained compares the filtered training with untrained features.
func (d *quickstart) judgeUntrained(say func(format string, args ...any)) {
	r := &d.result
	frozen, whitened, prism := r.Frozen.PrecisionAt1, r.Whitened.PrecisionAt1, r.PRISM.PrecisionAt1
	if gain := prism - max(frozen, whitened); gain > 0 {
		say("Without any training the features reach %.1f %% (frozen) and %.1f %% (whitened): fine-tuning on the "+
			"filtered labels is worth %.1f points.",
			100*frozen, 100*whitened, 100*gain)
	} else {
		say("Without any training the features reach %.1f %% (frozen) and %.1f %% (whitened): the network "+
			"fine-tuned on the filtered labels is NOT better than that.",
			100*frozen, 100*whitened)
	}
}
