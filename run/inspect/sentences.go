package inspect

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"winnow/audit"
	"winnow/audit/suspects"
	"winnow/eval"
	"winnow/internal/text"
)

// blind is the headline for a set whose labels neither features nor nearest neighbours predict.
const blind = "No label can be scored: these features do not separate the classes better than chance (another " +
	"backbone may, unless most labels of a class are wrong)."

// Sentences returns sentences that summarize the audit, the most important first.
func (a *Report) Sentences() []string {
	called := a.Called()
	list := []string{a.formatWrongHeadline(len(called))}
	if a.Blind || len(a.Images) > 0 && a.Unjudged == len(a.Images) {
		called = nil
	} else {
		if len(called) > 0 {
			list = append(list, a.howSure(called))
		}
		for _, s := range []string{a.howMany(len(called)), a.howFar(len(called)), a.explainUnseen(len(called))} {
			if s != "" {
				list = append(list, s)
			}
		}
	}
	if d := a.Detection; d != nil && d.Wrong > 0 {
		list = append(list, fmt.Sprintf("The manifest has the true labels: %d of %d are wrong (precision %.1f %%, "+
			"recall %.1f %%, AUROC %.4f, AP %.4f)%s.", d.Wrong, d.Samples, 100*d.Precision, 100*d.Recall, d.AUROC,
			d.AP, DescribeLeftOut(*d)))
	} else if d != nil {
		list = append(list, fmt.Sprintf("The manifest has the true labels: none of %d labels is wrong%s.", d.Samples,
			DescribeLeftOut(*d)))
	}
	if a.Checked != nil {
		list = append(list, a.Checked.Sentences()...)
	}
	list = append(list, a.listSmallClasses()...)
	if n := len(a.LeftOut); n > 0 {
		list = append(list, fmt.Sprintf("Left out: %s could not be read; the first is %s: %s.", text.Plural(n, "image"),
			text.Line(a.LeftOut[0].Path), text.Line(a.LeftOut[0].Reason)))
	}
	return list
}

// DescribeLeftOut returns the end of a sentence on measured labels: how many duplicates were left out; "" for none.
func DescribeLeftOut(d eval.Detection) string {
	if d.LeftOut == 0 {
		return ""
	}
	return fmt.Sprintf("; %d duplicates whose true labels contradict each other are left out", d.LeftOut)
}

// formatWrongHeadline returns the sentence on how many labels look wrong. called is the number of flagged labels.
func (a *Report) formatWrongHeadline(called int) string {
	judged := len(a.Images) - a.Unjudged
	if c := a.Checked; c != nil { // checked labels are not scored
		judged -= c.Right + c.Wrong
	}
	switch {
	case len(a.Images) > 0 && a.Unjudged == len(a.Images):
		return "No label can be scored: fewer than two classes have two images or more."
	case a.Asked:
		return fmt.Sprintf("%d of %d labels are flagged, as many as asked for.", called, judged)
	case a.Blind:
		return blind
	case called == 0:
		return fmt.Sprintf("None of %d labels looks wrong.", judged)
	case called == 1:
		return fmt.Sprintf("1 of %d labels looks wrong.", judged)
	}
	return fmt.Sprintf("%d of %d labels look wrong.", called, judged)
}

// howMany returns the estimate of how many of all labels are wrong, "" if there is none. called is the number of
// flagged labels.
func (a *Report) howMany(called int) string {
	n, judged := a.Noise, len(a.Images)-a.Unjudged
	if n == nil {
		return "How many labels are wrong is unknown."
	}
	low, high := math.Floor(n.Low*float64(judged)), math.Ceil(n.High*float64(judged))
	switch c := a.Checked; {
	case c != nil && c.Random != nil:
		return fmt.Sprintf("Of all %d labels, %.0f to %.0f are wrong (%s to %s %%), with 95 %% confidence: %d of %d "+
			"random images were.", judged, low, high, formatPercent(n.Low), formatPercent(n.High), c.Random.Wrong,
			c.Random.Images)
	case a.spreadsEvenly(called):
		expected := ""
		if a.ExpectedWrong != nil {
			expected = fmt.Sprintf(", %.0f expected", *a.ExpectedWrong)
		}
		return fmt.Sprintf("Of all %d labels, %.0f to %.0f are wrong (95 %% confidence%s), as the label errors spread "+
			"evenly over all classes.", judged, low, high, expected)
	case low > 0:
		return fmt.Sprintf("At least %.0f of all %d labels must be wrong (95 %% confidence).", low, judged)
	}
	return ""
}

// spreadsEvenly reports whether label errors are found and spread evenly over all classes, so that the estimate has an
// upper end.
func (a *Report) spreadsEvenly(called int) bool { return a.Alike && called > 0 }

// explainUnseen returns a sentence on the label errors that the estimate cannot count, "" if it counts all: errors that
// people repeat look like similar classes.
func (a *Report) explainUnseen(called int) string {
	if a.Noise == nil || a.spreadsEvenly(called) || a.Checked != nil && a.Checked.Random != nil {
		return ""
	}
	const unseen = "Errors that people repeat, such as one class taken for another, look like similar classes and " +
		"are not counted"
	if a.Check == "" {
		return unseen + "."
	}
	return fmt.Sprintf("%s; checking %d random images counts them: %s", unseen, Checked, a.Check)
}

// worthwhile is the least probability of a label error that is worth a reviewer's time: one image in five.
const worthwhile = 0.2

// howFar returns a sentence on how much of the list is worth reviewing, "" if scores are not probabilities or the user
// chose how many labels are flagged. called is the number of flagged labels.
func (a *Report) howFar(called int) string {
	if a.Asked || !audit.Named(a.Scorer).Probability {
		return ""
	}
	far := 0
	for _, e := range a.listJudged() {
		if 1-e.Score >= worthwhile {
			far++
		}
	}
	switch {
	case far > called:
		return fmt.Sprintf("The first %d of the list are worth a review: each may be wrong with a probability of %.0f "+
			"%% or more.", far, 100*worthwhile)
	case called > 0:
		return fmt.Sprintf("Of the labels that are not flagged, fewer than one in %.0f is expected to be wrong.",
			1/worthwhile)
	}
	return fmt.Sprintf("No label has a probability of %.0f %% or more of being wrong.", 100*worthwhile)
}

// Classes below both limits are too small to find label errors in. Measured: half of the errors are found in a class of
// 6 images next to a class of 240, none in a class of 4 next to one of 450, and all in a class of 12. In a set of fewer
// than [audit.FewImages] images, so are all classes less than a third as large as the largest.
const (
	fewImages = 8   // images
	tinyShare = 0.1 // of the largest class
)

// rareShare is the size of a class, as a share of the largest, up to which most of its images are not found under
// another label. Measured: 3 of 80 in classes of 12 and 40 images next to a class of 1,000, 8 of 16 in a class of 12
// next to a class of 240, and 231 of 384 in classes of like sizes.
const rareShare = 0.05

// listSmallClasses returns sentences on the classes of one image, which are not scored, on the classes that are too
// small to find label errors in, and on those whose images are not found under other labels.
func (a *Report) listSmallClasses() (list []string) {
	images, largest := map[string]int{}, 0
	for _, e := range a.Images {
		images[e.Given]++
		largest = max(largest, images[e.Given])
	}
	var single, small, rare []string
	lone := map[string]bool{}
	for _, e := range a.Images {
		if e.Unjudged && !lone[e.Given] {
			lone[e.Given], single = true, append(single, a.showClassName(e.Given))
		}
	}
	for class, n := range images {
		named := fmt.Sprintf("%s (%d)", a.showClassName(class), n)
		switch share := float64(n) / float64(largest); {
		case lone[class]:
		case n < fewImages && share <= tinyShare, len(a.Images) < audit.FewImages && 3*n < largest:
			small = append(small, named)
		case share <= rareShare:
			rare = append(rare, named)
		}
	}
	slices.Sort(single)
	slices.Sort(small)
	slices.Sort(rare)
	if len(single) > 0 {
		list = append(list, fmt.Sprintf("Not scored: %s of %s, without another image of the class to compare with.",
			text.Plural(a.Unjudged, "image"), formatExamples(single)))
	}
	if len(small) > 0 && !a.Blind {
		list = append(list, "Too few images to find most label errors among them: "+formatExamples(small))
	}
	if len(rare) > 0 && !a.Blind {
		list = append(list, "Most images of small classes that have another label are not found: "+formatExamples(rare))
	}
	return list
}

// formatExamples returns the first names of a list.
func formatExamples(names []string) string {
	said := strings.Join(text.First(names, shownImages), ", ")
	if len(names) > shownImages {
		said += ", …"
	}
	return said
}

// rateKnown reports whether the noise rate is estimated well enough without (further) checks of random images.
func (a *Report) rateKnown() bool {
	return a.Noise != nil && (a.Alike || a.Checked != nil && a.Checked.Random != nil)
}

// Checked is the number of random images that a person checks to estimate the noise rate.
const Checked = 60

// formatPercent formats a share in percent, with one decimal below 10 %.
func formatPercent(share float64) string {
	if share > 0 && share < 0.0995 {
		return fmt.Sprintf("%.1f", 100*share)
	}
	return fmt.Sprintf("%.0f", 100*share)
}

// howSure returns a sentence on how many of the flagged labels are expected to be wrong.
func (a *Report) howSure(called []suspects.Suspect) string {
	if !audit.Named(a.Scorer).Probability {
		return fmt.Sprintf("Scores of %s only rank labels: they do not show how many of these are wrong.", a.Scorer)
	}
	certain := 0
	for _, e := range called {
		if e.Score < sure {
			certain++
		}
	}
	if len(called) == 1 {
		return fmt.Sprintf("It is wrong with a probability of %.0f %%.", 100*(1-called[0].Score))
	}
	low, high := expectWrong(called)
	said := fmt.Sprintf("Expect %d to %d of these %d to be wrong (95 %% confidence)", low, high, len(called))
	if low == high {
		said = fmt.Sprintf("Expect %d of these %d to be wrong (95 %% confidence)", low, len(called))
	}
	if certain == 0 {
		return said + "."
	}
	return fmt.Sprintf("%s; for %d of them the probability is above 99 %%.", said, certain)
}

// misfit is the standard deviation, relative to the expected number, of how many flagged labels are right, beyond the
// chance that the probabilities describe. It is fitted to sets with known true labels (docs/log, 2026-11).
const misfit = 0.5

// expectWrong returns the 95 % interval of the number of wrong labels among flagged ones.
func expectWrong(called []suspects.Suspect) (low, high int) {
	right, variance := 0.0, 0.0
	for _, e := range called {
		right += e.Score
		variance += e.Score * (1 - e.Score)
	}
	wrong, around := float64(len(called))-right, 1.96*math.Hypot(math.Sqrt(variance), misfit*right)
	return int(max(0, math.Floor(wrong-around))), min(len(called), int(math.Ceil(wrong+around)))
}
