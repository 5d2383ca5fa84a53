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
	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/internal/text"
)

const (
	shownImages = 3    // number of examples in a line
	nameWidth   = 32   // maximal width of a label in a table, in characters
	widestPath  = 60   // maximal width of a path in a table, in characters
	fewest      = 3    // number of images shown if none is flagged
	sure        = 0.01 // a label with a lower probability of being right is almost certainly wrong
)

// Called returns the images whose labels are flagged, most suspect first.
func (a *Report) Called() (list []suspects.Suspect) {
	for _, e := range a.Images {
		if e.Flagged {
			list = append(list, e)
		}
	}
	return list
}

// listJudged returns the images that were scored and not checked by people.
func (a *Report) listJudged() []suspects.Suspect {
	return slices.DeleteFunc(slices.Clone(a.Images), func(e suspects.Suspect) bool {
		return e.Unjudged || e.Checked != ""
	})
}

// Worst counts the flagged labels of a class.
type Worst struct {
	Class          string
	Images, Called int    // all images with this given label, and the flagged images
	Suggested      string // the most frequent suggested label; "": none
	Times          int    // how often Suggested is suggested
}

// Worst returns the classes with flagged labels, those with the most flagged labels first.
func (a *Report) Worst() (list []Worst) {
	images := map[string]int{}
	for _, e := range a.Images {
		images[e.Given]++
	}
	for class, s := range mostSuggested(a.Images) {
		if s.times < 2 && s.called > 1 { // a single suggestion is no trend
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

// Confusions returns the pairs of given and suggested label of the flagged images, the most frequent first.
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

// WriteText writes a summary as text: how many labels look wrong and how certain that is, the classes with the most
// flagged labels, the top most suspect images, and the number of findings of each other kind.
func (a *Report) WriteText(w io.Writer, top int) {
	for _, s := range a.Sentences() {
		fmt.Fprintln(w, s)
	}
	if list := a.Worst(); len(list) > 0 && list[0].Called > 1 {
		var most []string
		for _, k := range text.First(list, shownImages) {
			most = append(most, fmt.Sprintf("%s (%d of %d)", a.showClassName(k.Class), k.Called, k.Images))
		}
		fmt.Fprintf(w, "Most are in %s.\n", strings.Join(most, ", "))
	}
	title, list := "most suspect", text.First(a.Called(), top)
	if len(list) == 0 && !a.Blind { // without flagged labels, show the lowest scores
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
	fmt.Fprintf(w, "\n%s scored by %s", text.Plural(len(a.Images), "image"), a.Scorer)
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

// Source returns the folder, the .zip file or the manifest that was audited.
func (a *Report) Source() location.Source { return a.from }

// Dataset returns the audited images as they were read.
func (a *Report) Dataset() *datasets.Dataset { return a.source }

// Root returns the folder or the .zip file of the images.
func (a *Report) Root() location.Source { return imageroot.Resolve(a.root, a.from) }

// formatSuggested returns the suggested label, "fits no class" for an outlier, or – if the given label fits best.
func (a *Report) formatSuggested(e suspects.Suspect) string {
	switch {
	case e.Suggested != e.Given:
		return a.showClassName(e.Suggested)
	case e.Outlier:
		return "fits no class"
	}
	return "–"
}

// showClassName returns the name of a class, shortened to fit a line of text.
func (a *Report) showClassName(label string) string {
	return text.Shortened(a.Names.Of(label), nameWidth)
}

// scoreText formats a score, as a percentage if it is a probability.
func scoreText(v float64, probability bool) string {
	if probability {
		return text.Chance(v)
	}
	return text.Score(v)
}

// suggestedMost is the most frequent suggestion for the flagged images of a class.
type suggestedMost struct {
	called int // number of flagged images
	label  string
	times  int
}

// mostSuggested returns the most frequent suggestion for each class with flagged images. Of equally frequent labels it
// takes the first in alphabetical order.
func mostSuggested(images []suspects.Suspect) map[string]suggestedMost {
	pairs, out := map[[2]string]int{}, map[string]suggestedMost{}
	for _, e := range images {
		if !e.Flagged {
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

// oddity is a kind of finding other than label errors.
type oddity struct {
	What  string
	N     int
	First []string // examples
}

// String returns the number of findings and the first examples.
func (o oddity) String() string { return formatCounted(o.N, o.First) }

// Oddities returns the kinds of findings other than label errors.
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
		some = " (in a set this large, the search finds 95 % of such pairs)"
	}
	faulty, which := a.listProblems()
	if which != "" {
		which = " (" + which + ")"
	}
	list := []oddity{
		{"images that fit no class", len(outliers), outliers},
		{"duplicates (copies) with different labels, one of them likelier" + some, len(groups.settled), groups.settled},
		{"duplicates (copies) with different labels, decide by eye", len(groups.look), groups.look},
		{"duplicates with the same label", len(groups.same), groups.same},
		{"duplicates in two splits (a leak)", len(groups.leak), groups.leak},
		{"classes that look the same as another", len(same), same},
		{"classes that look like two", len(two), two},
	}
	if a.Looked {
		list = slices.Insert(list, 5, oddity{"images with problems" + which, len(faulty), faulty})
	}
	return list
}

// formatCounted formats the count n and the first entries of list.
func formatCounted(n int, list []string) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprintf("%d: %s", n, text.Line(formatExamples(list)))
}
