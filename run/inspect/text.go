package inspect

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"winnow/audit"
	"winnow/audit/findings"
	"winnow/audit/suspects"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/internal/text"
)

const (
	shownImages = 3    // classes and images that a line names
	nameWidth   = 32   // most letters of a label in a table
	widestPath  = 60   // most letters of a path in a table
	fewest      = 3    // images shown if none is flagged
	sure        = 0.01 // probability below which a label is almost certainly wrong
)

// blind describes a set whose features foretell no label, nor do nearest images.
const blind = "No label can be judged: these features do not separate the classes better than chance (another " +
	"backbone may, unless most labels of a class are wrong)."

// Called returns the images whose labels are flagged, most suspect first.
func (a *Report) Called() (list []suspects.Suspect) {
	for _, e := range a.Images {
		if e.Dropped {
			list = append(list, e)
		}
	}
	return list
}

// Sentences describe the findings in plain words, the most important first.
func (a *Report) Sentences() []string {
	called := a.Called()
	list := []string{a.formatWrongHeadline(len(called))}
	if len(called) > 0 {
		list = append(list, a.howSure(called))
	}
	if d := a.Detection; d != nil && d.Wrong > 0 {
		list = append(list, fmt.Sprintf("The manifest knows the true labels: %d of %d are wrong (precision %.1f %%, "+
			"recall %.1f %%, AUROC %.4f, AP %.4f).", d.Wrong, d.Samples, 100*d.Precision, 100*d.Recall, d.AUROC, d.AP))
	} else if d != nil {
		list = append(list, fmt.Sprintf("The manifest knows the true labels: none of %d is wrong.", d.Samples))
	}
	if a.Checked != nil {
		list = append(list, a.Checked.Sentences()...)
	}
	if a.Unjudged > 0 {
		list = append(list, fmt.Sprintf("Not judged: %s alone in a class, with nothing to compare with.",
			text.Plural(a.Unjudged, "image")))
	}
	if n := len(a.LeftOut); n > 0 {
		list = append(list, fmt.Sprintf("Left out: %s could not be read; the first is %s: %s.", text.Plural(n, "image"),
			text.Line(a.LeftOut[0].Path), text.Line(a.LeftOut[0].Reason)))
	}
	return list
}

// formatWrongHeadline says how many labels look wrong.
func (a *Report) formatWrongHeadline(called int) string {
	judged := len(a.Images) - a.Unjudged
	if c := a.Checked; c != nil { // the others
		judged -= c.Right + c.Wrong
	}
	said := fmt.Sprintf("%d of %d labels look wrong", called, judged)
	switch {
	case len(a.Images) > 0 && a.Unjudged == len(a.Images):
		return "No label can be judged: fewer than two classes have two images or more."
	case a.Asked:
		said = fmt.Sprintf("%d of %d labels are flagged, as many as asked for", called, judged)
	case a.Blind:
		return blind
	case called == 0:
		said = fmt.Sprintf("None of %d labels looks wrong", judged)
	case called == 1:
		said = fmt.Sprintf("1 of %d labels looks wrong", judged)
	}
	if a.Noise == nil {
		return said + ". How many are wrong is not known."
	}
	return said + ". " + a.howMany(len(a.Images)-a.Unjudged) + "."
}

// howMany says how many labels are wrong, what is counted and what cannot be seen.
func (a *Report) howMany(judged int) string {
	n := a.Noise
	if c := a.Checked; c != nil && c.Random != nil {
		return fmt.Sprintf("Of all %d labels, between %s and %s %% are wrong (%.0f to %.0f), with 95 %% confidence: "+
			"%d of %d drawn at random were", judged, formatPercent(n.Low), formatPercent(n.High), n.Low*float64(judged),
			n.High*float64(judged), c.Random.Wrong, c.Random.Images)
	}
	said := fmt.Sprintf("Of all labels, between %s and %s %%", formatPercent(n.Low), formatPercent(n.High))
	counts := fmt.Sprintf("%.0f to %.0f", n.Low*float64(judged), n.High*float64(judged))
	if a.ExpectedWrong != nil {
		counts = fmt.Sprintf("about %.0f expected, %s", *a.ExpectedWrong, counts)
	}
	if a.Alike {
		return fmt.Sprintf("%s are wrong (%s), as the mistakes found go to all classes equally", said, counts)
	}
	said = fmt.Sprintf("%s may be wrong (%s): systematic mistakes cannot be distinguished from similar classes",
		said, counts)
	if a.Check != "" {
		said += fmt.Sprintf("; %d checks of random images settle it: %s", Checked, a.Check)
	}
	return said
}

// rateKnown reports whether the audit knows how many labels are wrong in all, so that nobody need check random images.
func (a *Report) rateKnown() bool {
	return a.Noise != nil && (a.Alike || a.Checked != nil && a.Checked.Random != nil)
}

// Checked is the number of random images whose labels a person checks to learn how many are wrong.
const Checked = 60

// formatPercent returns a share in percent, with a decimal if that matters.
func formatPercent(share float64) string {
	if share > 0 && share < 0.0995 {
		return fmt.Sprintf("%.1f", 100*share)
	}
	return fmt.Sprintf("%.0f", 100*share)
}

// howSure says how many of the labels flagged are expected to be wrong.
func (a *Report) howSure(called []suspects.Suspect) string {
	if !audit.Named(a.Scorer).Probability {
		return fmt.Sprintf("Scores of %s only rank labels: they do not say how many of these are wrong.", a.Scorer)
	}
	wrong, certain := 0.0, 0
	for _, e := range called {
		wrong += 1 - e.Score
		if e.Score < sure {
			certain++
		}
	}
	if len(called) == 1 {
		return fmt.Sprintf("It is wrong with a probability of %.0f %%.", 100*wrong)
	}
	said := fmt.Sprintf("Expect about %.0f of these %d to be wrong (%.0f %%)", wrong, len(called),
		100*wrong/float64(len(called)))
	if certain == 0 {
		return said + "."
	}
	return fmt.Sprintf("%s; for %d of them the probability is above 99 %%.", said, certain)
}

// listJudged returns the images that were judged.
func (a *Report) listJudged() []suspects.Suspect {
	return slices.DeleteFunc(slices.Clone(a.Images), func(e suspects.Suspect) bool {
		return e.Unjudged || e.Checked != ""
	})
}

// Worst is a class with labels that are flagged.
type Worst struct {
	Class          string
	Images, Called int
	Suggested      string // most often; "": none
	Times          int
}

// Worst returns the classes with labels that are flagged, those with the most first.
func (a *Report) Worst() (list []Worst) {
	images := map[string]int{}
	for _, e := range a.Images {
		images[e.Given]++
	}
	for class, s := range mostSuggested(a.Images) {
		if s.times < 2 && s.called > 1 { // once says little
			s.label, s.times = "", 0
		}
		list = append(list, Worst{class, images[class], s.called, s.label, s.times})
	}
	slices.SortFunc(list, func(x, y Worst) int {
		return cmp.Or(cmp.Compare(y.Called, x.Called), cmp.Compare(x.Images, y.Images), cmp.Compare(x.Class, y.Class))
	})
	return list
}

// Confusion counts how often one label is suggested in place of another.
type Confusion struct {
	Given, Suggested string
	Times            int
}

// Confusions returns the confusions of the labels flagged, the most frequent first.
func (a *Report) Confusions() (list []Confusion) {
	times := map[[2]string]int{}
	for _, e := range a.Called() {
		if e.Suggested != e.Given {
			times[[2]string{e.Given, e.Suggested}]++
		}
	}
	for pair, n := range times {
		list = append(list, Confusion{pair[0], pair[1], n})
	}
	slices.SortFunc(list, func(x, y Confusion) int {
		return cmp.Or(cmp.Compare(y.Times, x.Times), cmp.Compare(x.Given, y.Given),
			cmp.Compare(x.Suggested, y.Suggested))
	})
	return list
}

// WriteText writes for people how many labels look wrong and how certain that is, in which classes most are, the top
// most suspect images as examples, and how many findings of each kind there are.
func (a *Report) WriteText(w io.Writer, top int) {
	for _, s := range a.Sentences() {
		fmt.Fprintln(w, s)
	}
	if list := a.Worst(); len(list) > 0 {
		var most []string
		for _, k := range text.First(list, shownImages) {
			most = append(most, fmt.Sprintf("%s (%d of %d)", a.showClassName(k.Class), k.Called, k.Images))
		}
		fmt.Fprintf(w, "Most are in %s.\n", strings.Join(most, ", "))
	}
	title, list := "most suspect", text.First(a.Called(), top)
	if len(list) == 0 && !a.Blind { // these are still worth a look
		title, list = "least certain, not flagged", text.First(a.listJudged(), min(top, fewest))
	}
	if len(list) > 0 {
		rows, certain := [][]string{{title, "given", "suggested", "score"}}, audit.Named(a.Scorer).Probability
		if certain {
			rows[0][3] = "given is right"
		}
		for _, e := range list {
			rows = append(rows, []string{shownPath(e.Path), a.showClassName(e.Given), a.formatSuggested(e),
				scoreText(e.Score, certain)})
		}
		fmt.Fprintln(w)
		text.Aligned(w, rows, 0, 1, 2)
	}
	lead := "\n"
	for _, o := range a.Oddities() {
		if o.N > 0 {
			fmt.Fprintf(w, "%s%s: %d, for example %s\n", lead, o.What, o.N, text.Line(o.First[0]))
			lead = ""
		}
	}
	fmt.Fprintf(w, "\n%s judged by %s", text.Plural(len(a.Images), "image"), a.Scorer)
	if a.Why != "" {
		fmt.Fprintf(w, ": %s", a.Why)
	}
	fmt.Fprintln(w)
}

// shownPath returns the end of a long path, so that a table stays narrow.
func shownPath(path string) string {
	letters := []rune(path)
	if n := len(letters) - widestPath; n > 0 {
		return "…" + string(letters[n+1:])
	}
	return path
}

// Source returns the folder, the .zip file or the manifest that was judged.
func (a *Report) Source() location.Source { return a.from }

// Root returns the folder or the .zip file of the images.
func (a *Report) Root() location.Source { return imageroot.Resolve(a.root, a.from) }

// formatSuggested returns the suggested label as text: – if none fits better, or that the image fits none.
func (a *Report) formatSuggested(e suspects.Suspect) string {
	switch {
	case e.Suggested != e.Given:
		return a.showClassName(e.Suggested)
	case e.Outlier:
		return "fits no class"
	}
	return "–"
}

// showClassName returns the name of a class for a line of text.
func (a *Report) showClassName(label string) string {
	return text.Shortened(a.Names.Of(label), nameWidth)
}

// scoreText returns a score as text, a probability in percent.
func scoreText(v float64, probability bool) string {
	if probability {
		return text.Chance(v)
	}
	return text.Score(v)
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
	if a.Noise == nil || a.result.NoFindings != nil {
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
