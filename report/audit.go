package report

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"winnow/audit"
	"winnow/audit/suspects"
	"winnow/internal/atomicfile"
	"winnow/report/page"
	"winnow/run/check"
	"winnow/run/inspect"
)

// Upper limits on what the audit page shows.
const (
	auditedSuspects   = 60
	auditedConfusions = 12
	auditedShown      = 24 // cards per gallery
	auditedCopies     = 6  // images per card
)

// WriteAudited writes an HTML page about an audit of images to a file. The page shows the findings, the classes that
// contain them, and the most suspect flagged labels with their images. next is the command to run next.
func WriteAudited(ctx context.Context, h Host, a *inspect.Report, file, next string) error {
	content, err := newAuditPage(ctx, h, a, next)
	if err != nil {
		return err
	}
	return atomicfile.Write(file, content.WriteHTML)
}

// newAuditPage returns the HTML page about an audit of images.
func newAuditPage(ctx context.Context, h Host, a *inspect.Report, next string) (page.Report, error) {
	source, err := a.Source().Absolute()
	if err != nil {
		source = a.Source()
	}
	content := page.Report{
		Title:   "Labels of “" + source.Base() + "”",
		Verdict: a.Sentences(), Command: "audit", Next: next,
		Sections: []page.Section{describeFlagged(a, "Where they are")}, Facts: auditedFacts(h, a),
		Definitions: defineFlagged(a),
		Foremost:    true,
	}
	list := a.Called()
	list = list[:min(auditedSuspects, len(list))]
	content.Suspects, err = newSuspectCards(ctx, h, a.Root(), "audit", a.Names, list, true)
	if err != nil {
		return content, err
	}
	content.Galleries, err = makeGalleries(ctx, h, a, a.Galleries())
	return content, err
}

// WriteChecked writes an HTML page with the images of a check's findings to a file. a is the audit behind the check.
func WriteChecked(ctx context.Context, h Host, a *inspect.Report, r *check.Result, file string) error {
	galleries, err := makeGalleries(ctx, h, a, r.Galleries())
	if err != nil {
		return err
	}
	content := page.Report{
		Title: "Check of “" + a.Source().Base() + "”", Verdict: r.Sentences(), Command: "check", Galleries: galleries,
		Facts: auditedFacts(h, a), Foremost: true,
	}
	return atomicfile.Write(file, content.WriteHTML)
}

// makeGalleries returns galleries of findings with the images of an audit, such as duplicates and outliers.
func makeGalleries(ctx context.Context, h Host, a *inspect.Report, found []inspect.Gallery) (list []page.Gallery,
	err error) {
	var files []string
	for i, g := range found {
		found[i].Shown = g.Shown[:min(auditedShown, len(g.Shown))]
		if n := len(g.Shown); n > auditedShown {
			found[i].Note += fmt.Sprintf(" Showing %d of %d.", auditedShown, n)
		}
		for j, s := range found[i].Shown {
			if n := len(s.Paths); n > auditedCopies {
				found[i].Shown[j].Paths = s.Paths[:auditedCopies]
				found[i].Shown[j].Why += fmt.Sprintf("; %d more", n-auditedCopies)
			}
			files = append(files, found[i].Shown[j].Paths...)
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	p, err := OpenPictures(ctx, a.Root(), "audit")
	if err != nil {
		return nil, err
	}
	small, err := p.Files(ctx, h, files, faceSide)
	if err != nil {
		return nil, err
	}
	for _, g := range found {
		to := page.Gallery{Title: g.Title, Note: g.Note}
		for _, s := range g.Shown {
			card := page.GalleryCard{Tags: s.Tags, Why: s.Why}
			for k, path := range s.Paths {
				card.Pictures = append(card.Pictures, page.Picture{Data: small[path], File: path,
					Caption: a.Names.Of(s.Labels[k])})
			}
			to.Cards = append(to.Cards, card)
		}
		list = append(list, to)
	}
	return list, nil
}

// describeFlagged returns a section about the classes of the flagged labels.
func describeFlagged(a *inspect.Report, title string) page.Section {
	s := page.Section{Title: title, Charts: []page.Drawing{drawScores(a)}}
	var rows [][]string
	purity := map[string]inspect.Class{}
	for _, k := range a.Classes {
		purity[k.Class] = k
	}
	for _, k := range a.Worst() {
		estimate, instead := "–", "–"
		if p, ok := purity[k.Class]; ok {
			estimate = fmt.Sprintf("%.0f (%.0f to %.0f)", 100*(1-p.Purity), 100*(1-p.High), 100*(1-p.Low))
		}
		if k.Times > 0 {
			instead = fmt.Sprintf("%s, %d of %d", a.Names.Of(k.Suggested), k.Times, k.Called)
		}
		rows = append(rows, []string{
			a.Names.Of(k.Class), strconv.Itoa(k.Images), strconv.Itoa(k.Called),
			percentText(float64(k.Called) / float64(k.Images)), estimate, instead,
		})
	}
	if len(rows) > 0 {
		s.Tables = classTables("The classes with the most labels flagged",
			fmt.Sprintf("All %d classes with labels flagged", len(rows)),
			[]string{"class", "images", "flagged", "share %", "estimated % (95 %)", "most often suggested"}, rows)
	}
	rows = nil
	for _, c := range a.Confusions() {
		if len(rows) == auditedConfusions || c.Times < 2 {
			break
		}
		rows = append(rows, []string{a.Names.Of(c.Given), a.Names.Of(c.Suggested), strconv.Itoa(c.Times)})
	}
	if len(rows) > 0 {
		s.Tables = append(s.Tables, page.Table{
			Caption: "The most frequent confusions", Head: []string{"labelled", "looks like", "images"}, Rows: rows,
		})
	}
	return s
}

// drawScores returns a histogram of the scores of all labels in two series: wrong and right labels if the true label
// of every scored image is known, otherwise flagged labels and the rest.
func drawScores(a *inspect.Report) page.Histogram {
	const bins = 25
	names, low, high, axis := [2]string{"not flagged", "flagged"}, 0.0, 1e-9, "score of the label by "+a.Scorer
	known := !slices.ContainsFunc(a.Images, func(e suspects.Suspect) bool { return !e.Unjudged && e.True == "" })
	if known {
		names = [2]string{"right labels", "wrong labels"}
	}
	var values [2][]float64
	for _, e := range a.Images {
		if e.Unjudged {
			continue
		}
		low, high = min(low, e.Score), max(high, e.Score)
		at := 0
		if known && e.True != e.Given || !known && e.Flagged {
			at = 1
		}
		values[at] = append(values[at], e.Score)
	}
	if audit.Named(a.Scorer).Probability {
		low, high, axis = 0, 1, "probability that the label is right"
	}
	h := page.Histogram{Frame: page.Frame{
		Title: "Scores of all labels", X: axis, Y: "share of the labels", Percent: true,
	}}
	for i, name := range names {
		h.Bars = append(h.Bars, page.Count(name, values[i], low, high, bins, i))
	}
	return h
}

// auditedFacts returns facts about how the audit was made.
func auditedFacts(h Host, a *inspect.Report) []page.Fact {
	facts := []page.Fact{
		{Name: "images", Value: fmt.Sprintf("%d scored, from %s", len(a.Images)-a.Unjudged, a.Root())},
		{Name: "backbone", Value: a.Model}, {Name: "scorer", Value: a.Scorer},
	}
	if a.Why != "" {
		facts = append(facts, page.Fact{Name: "scorer's inputs", Value: a.Why})
	}
	if a.Noise != nil {
		facts = append(facts, page.Fact{Name: "estimated share of wrong labels", Value: a.Noise.String()})
	}
	for i, left := range a.LeftOut[:min(len(a.LeftOut), auditedConfusions)] {
		name := fmt.Sprintf("left out %d of %d", i+1, len(a.LeftOut))
		facts = append(facts, page.Fact{Name: name, Value: left.Path + ": " + left.Reason})
	}
	return append(facts, page.Fact{Name: "version", Value: "winnow " + h.Winnow})
}

// calledWrong explains in words which labels the audit flags.
func calledWrong(a *inspect.Report) string {
	switch {
	case a.Asked:
		return "the labels with the lowest scores, as many as requested"
	case audit.Named(a.Scorer).Probability:
		return "labels that are more likely wrong than right, if another class fits better or no class fits. " +
			"More labels than these are probably wrong, but each of the others is more likely right than wrong"
	}
	return "the labels with the lowest scores for which another class fits better"
}

// defineFlagged returns definitions of the numbers of an audit.
func defineFlagged(a *inspect.Report) []page.Fact {
	list := []page.Fact{
		{Name: "flagged", Value: calledWrong(a)},
		{Name: "estimated", Value: "estimated from the distances between the images. The interval assumes that wrong " +
			"labels are spread equally over all classes only if a test supported this; otherwise its upper end " +
			"counts every label that the other images leave in doubt as wrong"},
		{Name: "suggested", Value: "the class that fits the image best, according to the same scorer"},
		{Name: "nearest", Value: "nearest images by the backbone's features: " +
			"those that support the given label, and those that support the suggested label"},
	}
	if audit.Named(a.Scorer).Probability {
		return append(list, page.Fact{Name: "% right",
			Value: "the probability that the given label is right, computed from all images except this one"})
	}
	return append(list, page.Fact{Name: "score",
		Value: "ranks the labels: the label with the lowest score is the most suspect. It is not a probability"})
}
