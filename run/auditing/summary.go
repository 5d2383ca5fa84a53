package auditing

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"winnow/audit"
	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/internal/text"
)

// sure is the probability below which a label is all but surely wrong.
const sure = 0.01

// blind is said of a set whose labels nothing foretells.
const blind = "Nothing can be said of these labels: from all the others each is foretold no better than by chance, so these features do not tell the classes apart (another --model may)."

// Called returns the images whose labels are called wrong, most suspect first.
func (a *Report) Called() (list []suspects.Entry) {
	for _, e := range a.Images {
		if e.Dropped {
			list = append(list, e)
		}
	}
	return list
}

// Sentences say in plain words what was found, the most important first.
func (a *Report) Sentences() []string {
	called := a.Called()
	list := []string{a.headline(len(called))}
	if len(called) > 0 {
		list = append(list, a.howSure(called))
	}
	if d := a.Detection; d != nil && d.Wrong > 0 {
		list = append(list, fmt.Sprintf("The manifest knows the true labels: %d of %d are wrong, %.1f %% of those called wrong are, and %.1f %% of the wrong ones are called so (AUROC %.4f, AP %.4f).",
			d.Wrong, d.Samples, 100*d.Precision, 100*d.Recall, d.AUROC, d.AP))
	} else if d != nil {
		list = append(list, fmt.Sprintf("The manifest knows the true labels: none of %d is wrong.", d.Samples))
	}
	if a.Unjudged > 0 {
		list = append(list, fmt.Sprintf("Not judged: %s alone in a class, with nothing to compare with.", plural(a.Unjudged, "image")))
	}
	if n := len(a.LeftOut); n > 0 {
		list = append(list, fmt.Sprintf("Left out: %s could not be read; the first is %s: %s.", plural(n, "image"), text.Line(a.LeftOut[0].Path), text.Line(a.LeftOut[0].Reason)))
	}
	return list
}

// headline says how many labels look wrong.
func (a *Report) headline(called int) string {
	judged := len(a.Images) - a.Unjudged
	interval := ""
	if n := a.Noise; n != nil {
		interval = fmt.Sprintf("%.1f %%, between %.1f and %.1f %%", 100*n.Rate, 100*n.Low, 100*n.High)
	}
	switch asked := a.Noise == nil || a.Rate != a.Noise.Rate; {
	case asked && a.Noise == nil:
		return fmt.Sprintf("%d of %d labels are called wrong; nothing tells how many are.", called, judged)
	case asked:
		return fmt.Sprintf("%d of %d labels are called wrong, as many as asked for; estimated are %s.", called, judged, interval)
	case a.Blind:
		return blind
	case called == 0:
		return fmt.Sprintf("None of %d labels looks wrong (%s).", judged, interval)
	}
	looks := "look"
	if called == 1 {
		looks = "looks"
	}
	return fmt.Sprintf("%d of %d labels %s wrong (%s).", called, judged, looks, interval)
}

// howSure says how many of those called wrong are to be expected to be.
func (a *Report) howSure(called []suspects.Entry) string {
	if !audit.Probability(a.Scorer) {
		return fmt.Sprintf("Scores of %s only rank labels, the lowest first: how many of these are wrong they do not say.", a.Scorer)
	}
	wrong, certain := 0.0, 0
	for _, e := range called {
		wrong += 1 - e.Score
		if e.Score < sure {
			certain++
		}
	}
	if len(called) == 1 {
		return fmt.Sprintf("By its probability it is wrong with a chance of %.0f %%.", 100*wrong)
	}
	said := fmt.Sprintf("By their probabilities about %.0f of these %d are wrong (%.0f %%)", wrong, len(called), 100*wrong/float64(len(called)))
	if certain == 0 {
		return said + "."
	}
	return fmt.Sprintf("%s; of %d the given label is right with a chance below 1 %%.", said, certain)
}

// fewest is how many images are shown where none is called wrong.
const fewest = 3

// judged returns the images that something is known of.
func (a *Report) judged() []suspects.Entry {
	return slices.DeleteFunc(slices.Clone(a.Images), func(e suspects.Entry) bool { return e.Unjudged })
}

// Worst is a class in which labels are called wrong.
type Worst struct {
	Class          string
	Images, Called int
	Suggested      string // most often, "" where none is
	Times          int
}

// Worst returns the classes in which labels are called wrong, those with the most first.
func (a *Report) Worst() (list []Worst) {
	images := map[string]int{}
	for _, e := range a.Images {
		images[e.Given]++
	}
	for class, s := range mostSuggested(a.Images) {
		if s.times < 2 && s.called > 1 { // once is not often
			s.label, s.times = "", 0
		}
		list = append(list, Worst{class, images[class], s.called, s.label, s.times})
	}
	slices.SortFunc(list, func(x, y Worst) int {
		return cmp.Or(cmp.Compare(y.Called, x.Called), cmp.Compare(x.Images, y.Images), strings.Compare(x.Class, y.Class))
	})
	return list
}

// Confusion is how often one label is suggested in the place of another.
type Confusion struct {
	Given, Suggested string
	Times            int
}

// Confusions returns them for the labels called wrong, the most frequent first.
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
		return cmp.Or(cmp.Compare(y.Times, x.Times), strings.Compare(x.Given, y.Given), strings.Compare(x.Suggested, y.Suggested))
	})
	return list
}

// WriteSummary writes what a person wants to know first: how many labels look wrong and how surely, where, and the top
// most suspect as examples.
func (a *Report) WriteSummary(w io.Writer, top int) {
	for _, s := range a.Sentences() {
		fmt.Fprintln(w, s)
	}
	if list := a.Worst(); len(list) > 0 {
		list = text.First(list, shownClasses)
		rows := [][]string{{"class", "images", "called wrong", "most often suggested there"}}
		for _, k := range list {
			row := []string{text.Shortened(k.Class, nameWidth), fmt.Sprint(k.Images), fmt.Sprint(k.Called), "–"}
			if k.Times > 0 {
				row[3] = fmt.Sprintf("%s (%d)", text.Shortened(k.Suggested, nameWidth), k.Times)
			}
			rows = append(rows, row)
		}
		if !slices.ContainsFunc(list, func(k Worst) bool { return k.Times > 0 }) {
			for i := range rows {
				rows[i] = rows[i][:3]
			}
		}
		fmt.Fprintln(w)
		text.Aligned(w, rows, 0, 3)
	}
	title, list := "most suspect", text.First(a.Called(), top)
	if len(list) == 0 && !a.Blind { // still worth a look
		title, list = "least sure, though not called wrong", text.First(a.judged(), min(top, fewest))
	}
	if len(list) > 0 {
		rows := [][]string{{title, "given", "suggested", a.ScoreName()}}
		for _, e := range list {
			row := []string{e.Path, text.Shortened(e.Given, nameWidth), "–", a.ScoreText(e.Score)} // –: none fits better
			if e.Suggested != e.Given {
				row[2] = text.Shortened(e.Suggested, nameWidth)
			}
			rows = append(rows, row)
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
	if a.Why != "" {
		fmt.Fprintf(w, "\njudged by %s, which took %s\n", a.Scorer, a.Why)
	}
}

// ScoreName says what the score of a given label is.
func (a *Report) ScoreName() string {
	if audit.Probability(a.Scorer) {
		return "given is right"
	}
	return "score"
}

// ScoreText returns a score for people: a probability in percent, never more digits than mean something.
func (a *Report) ScoreText(score float64) string {
	return scoreText(score, audit.Probability(a.Scorer))
}

// ReviewCommand is the command that goes on with the file of suspects.
func (a *Report) ReviewCommand(out string) string {
	words := []string{"winnow", "review", out, "--manifest", a.from.String()}
	if !a.root.IsZero() {
		words = append(words, "--root", a.root.String())
	}
	mended := "mended.csv"
	if form, err := datasets.FormOf(a.from); err == nil && (form == datasets.JSONL || form == datasets.TSV) {
		mended = "mended." + string(form)
	} else if err == nil && form == datasets.COCO {
		mended = "mended.json"
	}
	words = append(words, "--features", a.Store, "--out", filepath.Join(filepath.Dir(out), mended))
	for i, word := range words {
		if strings.ContainsAny(word, " \t\n'\"\\$`&|;<>()*?[]#~!{}") {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// Source is the folder, the .zip file or the manifest that was judged.
func (a *Report) Source() location.Source { return a.from }

// Root is the folder, or the .zip file, that the images lie in.
func (a *Report) Root() location.Source { return imageroot.Resolve(a.root, a.from) }

// plural counts things.
func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
