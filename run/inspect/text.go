package inspect

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"winnow/audit"
	"winnow/audit/findings"
	"winnow/audit/suspects"
	"winnow/internal/text"
)

// How many classes and images a text names.
const (
	shownClasses = 5
	shownImages  = 3
	nameWidth    = 32 // most letters of a label in a table
)

// WriteText writes the audit for people: the top most suspect images, then a summary of all.
func (a *Report) WriteText(w io.Writer, top int) {
	open := slices.DeleteFunc(slices.Clone(a.Images), func(e suspects.Suspect) bool { return e.Checked != "" })
	printSuspects(w, a, text.First(open, top))
	fmt.Fprintln(w, a.formatWrongHeadline(len(a.Called())))
	fmt.Fprintf(w, "%d images judged by %s", len(a.Images), a.Scorer)
	if a.Suggests != "" {
		fmt.Fprintf(w, ", labels suggested by %s", a.Suggests)
	}
	if n := len(a.LeftOut); n > 0 {
		fmt.Fprintf(w, "; %d left out: unreadable", n)
	}
	if n, classes := a.countAlone(); n > 0 {
		fmt.Fprintf(w, "; %d are alone in their class and not judged: %s", n, text.Line(nameFirstFive(classes)))
	}
	fmt.Fprintln(w)
	if a.Checked != nil {
		for _, s := range a.Checked.Sentences() {
			fmt.Fprintln(w, s)
		}
	}
	if n := len(a.Unlabelled); n > 0 {
		fmt.Fprintf(w, "%s without a label; the first, %s, looks like %s\n", text.Plural(n, "image"),
			text.Line(a.Unlabelled[0].Path), a.Likely(a.Unlabelled[0]))
	}
	if a.Sampled > 0 {
		fmt.Fprintf(w, "fitted to %d of them; nearest images were not looked for\n", a.Sampled)
	}
	if a.Why != "" {
		fmt.Fprintf(w, "%s used %s\n", a.Scorer, a.Why)
	}
	if a.Noise != nil && !a.Blind {
		fmt.Fprintf(w, "wrong labels: about %s\n", a.Noise)
	}
	if d := a.Detection; d != nil && d.Wrong == 0 {
		fmt.Fprintf(w, "the manifest knows: none of %d labels is wrong\n", d.Samples)
	} else if d != nil {
		fmt.Fprintf(w, "the manifest knows: %d of %d labels are wrong; AUROC %.4f, AP %.4f\n", d.Wrong, d.Samples,
			d.AUROC, d.AP)
		fmt.Fprintf(w, "precision %.1f %% of the labels flagged, recall %.1f %% of the wrong labels, F1 %.3f; "+
			"%.1f %% of the labels kept are right\n", 100*d.Precision, 100*d.Recall, d.F1, 100*d.FilterAccuracy)
		fmt.Fprintf(w, "recall among the most suspect 1 %%: %.1f %%, 5 %%: %.1f %%, as many as are wrong: %.1f %%\n",
			100*d.Found1, 100*d.Found5, 100*d.FoundAll)
	}
	printClasses(w, a)
	if list := a.Oddities(); len(list) > 0 {
		fmt.Fprintln(w)
		for _, o := range list {
			fmt.Fprintf(w, "%s: %s\n", o.What, o)
		}
	}
}

// showClassName returns the name of a class for a line of text.
func (a *Report) showClassName(label string) string {
	return text.Shortened(a.Names.Of(label), nameWidth)
}

// printSuspects prints a table of images.
func printSuspects(w io.Writer, a *Report, list []suspects.Suspect) {
	if len(list) == 0 {
		return
	}
	certain, suggestsCertain := audit.Named(a.Scorer).Probability, audit.Named(cmp.Or(a.Suggests, a.Scorer)).Probability
	rows := [][]string{{"rank", "given", "score", "suggested", "score", "image"}}
	if certain {
		rows[0][2] = "right"
	}
	if suggestsCertain {
		rows[0][4] = "right"
	}
	for _, e := range list {
		row := []string{
			fmt.Sprint(e.Rank),
			a.showClassName(e.Given),
			scoreText(e.Score, certain),
			a.formatSuggested(e),
			"",
			e.Path,
		}
		if e.Unjudged {
			row[2] = suspects.Unjudged
		}
		if e.Suggested != e.Given && e.SuggestedScore != nil {
			row[4] = scoreText(*e.SuggestedScore, suggestsCertain)
		}
		rows = append(rows, row)
	}
	text.Aligned(w, rows, 1, 3, 5)
	if !certain {
		fmt.Fprintf(w, "%s\n", Ranks(a.Scorer))
	}
	if certain || suggestsCertain {
		by := "the other images"
		if audit.Named(a.Scorer).Kind == audit.ByProxies {
			by = "the run's proxies, which have learnt from this image too"
		}
		fmt.Fprintf(w, "right: the probability that the label before it is right, by %s\n", by)
	}
	fmt.Fprintln(w)
}

// scoreText returns a score as text, a probability in percent.
func scoreText(v float64, probability bool) string {
	if probability {
		return text.Chance(v)
	}
	return text.Score(v)
}

// printClasses prints the classes with the largest estimated shares of wrong labels, and the most frequent suggestions.
func printClasses(w io.Writer, a *Report) {
	list := slices.Clone(a.Classes)
	slices.SortStableFunc(list, func(x, y Class) int { return cmp.Compare(x.Purity, y.Purity) })
	list = slices.DeleteFunc(list, func(k Class) bool { return math.IsNaN(k.Purity) || k.Purity >= 1 })
	if len(list) == 0 {
		return
	}
	instead := mostSuggested(a.Images)
	rows := [][]string{{"class", "images", "wrong", "95 %", "flagged", "most often suggested there"}}
	for _, k := range text.First(list, shownClasses) {
		s := instead[k.Class]
		row := []string{a.showClassName(k.Class), fmt.Sprint(k.Images),
			fmt.Sprintf("%.0f %%", 100*(1-k.Purity)), fmt.Sprintf("%.0f to %.0f %%", 100*(1-k.High), 100*(1-k.Low)),
			fmt.Sprint(s.called), ""}
		if s.times > 0 {
			row[5] = fmt.Sprintf("%s (%d)", a.showClassName(s.label), s.times)
		}
		rows = append(rows, row)
	}
	fmt.Fprintf(w, "\nclasses with the most wrong labels, by the estimate\n")
	text.Aligned(w, rows, 0, 5)
}

// suggestedMost is the most frequent suggestion for the images of a class that are flagged.
type suggestedMost struct {
	called int // images
	label  string
	times  int
}

// mostSuggested returns the most frequent suggestion in every class; ties go to the label first in alphabetical order.
func mostSuggested(images []suspects.Suspect) map[string]suggestedMost {
	pairs, out := map[[2]string]int{}, map[string]suggestedMost{}
	for _, e := range images {
		if !e.Dropped {
			continue
		}
		s := out[e.Given]
		s.called++
		if e.Suggested != e.Given {
			pair := [2]string{e.Given, e.Suggested}
			pairs[pair]++
			if n := pairs[pair]; n > s.times || n == s.times && e.Suggested < s.label {
				s.label, s.times = e.Suggested, n
			}
		}
		out[e.Given] = s
	}
	return out
}

// oddity is a kind of finding besides suspects.
type oddity struct {
	What  string
	N     int
	First []string // names of examples
}

// String gives the number and the first names.
func (o oddity) String() string { return formatCounted(o.N, o.First) }

// Oddities lists the findings besides suspects.
func (a *Report) Oddities() []oddity {
	if a.loneClass() == "" && (a.Noise == nil || a.result.NoFindings != nil) {
		return nil
	}
	var outliers, same, two []string
	for _, e := range a.Images {
		if e.Outlier {
			outliers = append(outliers, e.Path)
		}
	}
	for _, k := range a.Classes {
		if k.Same {
			same = append(same, fmt.Sprintf("%s as %s", a.showClassName(k.Class), a.showClassName(k.Like)))
		}
		if k.Two {
			two = append(two, a.showClassName(k.Class))
		}
	}
	groups, some := a.groupsByKind(), ""
	if len(a.Images) > findings.AllCompared {
		some = " (95 % of such pairs are found in a set this large)"
	}
	if a.Sampled > 0 {
		some = " (nine in ten such pairs are found by a sample)"
	}
	faulty, which := a.listProblems()
	if which != "" {
		which = " (" + which + ")"
	}
	list := []oddity{
		{"images that fit no class", len(outliers), outliers},
		{"copies with other labels, one of them likelier" + some, len(groups.settled), groups.settled},
		{"copies whose labels contradict each other: look", len(groups.look), groups.look},
		{"copies with the same label", len(groups.same), groups.same},
		{"copies in two splits (a leak)", len(groups.leak), groups.leak},
		{"classes that look the same as another", len(same), same},
		{"classes that look like two", len(two), two},
	}
	if a.Looked {
		list = slices.Insert(list, 5, oddity{"pictures with problems" + which, len(faulty), faulty})
	}
	return list
}

// formatCounted returns a number of things with the first of their names.
func formatCounted(n int, list []string) string {
	if n == 0 {
		return "none"
	}
	all := fmt.Sprintf("%d: %s", n, text.Line(strings.Join(text.First(list, shownImages), ", ")))
	if len(list) > shownImages {
		all += ", …"
	}
	return all
}

// Ranks explains the scores of a scorer that gives no probability of a label.
func Ranks(scorer string) string {
	if scorer == audit.Probabilities {
		return "scores by given probabilities rank labels, the lowest most suspect; how well they are calibrated is " +
			"not known"
	}
	return "scores of " + scorer + " rank labels, the lowest most suspect; they are no probabilities"
}
