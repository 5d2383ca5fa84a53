package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"winnow/eval"
	"winnow/report/chart"
	"winnow/report/page"
	"winnow/run/comparison"
	"winnow/run/config"
	"winnow/train"
)

// asGood returns the names of the runs whose P@1 equals the best one's.
func asGood(runs []*Run, best *Run) (names []string) {
	for _, r := range runs {
		if r.measured.Trained.PrecisionAt1 == best.measured.Trained.PrecisionAt1 {
			names = append(names, r.name)
		}
	}
	return names
}

// bestOf says which run is best, or which are equally good.
func bestOf(runs []*Run, best *Run) string {
	names, n := asGood(runs, best), best.measured.Trained.PrecisionAt1
	switch {
	case len(names) == len(runs):
		return fmt.Sprintf("No run is better than another by P@1 on %s: all have %.4f.", best.SplitText(), n)
	case len(names) > 1:
		return fmt.Sprintf("Best by P@1 on %s, and equally good: %s (%.4f).",
			best.SplitText(), strings.Join(names, ", "), n)
	}
	return fmt.Sprintf("Best by P@1 on %s: %s (%.4f).", best.SplitText(), best.name, n)
}

// Compared returns the report of several runs: where their settings differ, their numbers, and their curves in
// shared charts. It has no pictures.
func Compared(runs []*Run) page.Report {
	distinctNames(runs)
	report := page.Report{
		Command: "report", Title: fmt.Sprintf("%d runs compared", len(runs)),
		RowsTitle: runs[0].rowsTitle(), K: []int{1, 2, 4, 8},
	}
	best := slices.MaxFunc(runs, func(a, b *Run) int {
		return cmp.Compare(a.measured.Trained.PrecisionAt1, b.measured.Trained.PrecisionAt1)
	})
	for i, r := range runs {
		if i > 0 && (r.SplitText() != runs[0].SplitText() || r.Facts.ManifestSHA256 != runs[0].Facts.ManifestSHA256) {
			report.Warnings = append(report.Warnings, fmt.Sprintf("%s and %s have different manifests or splits: "+
				"their numbers are of different images or labels.", runs[0].name, r.name))
		}
		for _, w := range r.measured.Warnings {
			report.Warnings = append(report.Warnings, r.name+": "+w)
		}
		report.Rows = append(report.Rows, untrainedRows(runs[:i], r)...)
	}
	for _, r := range runs {
		report.Rows = append(report.Rows, page.Row{
			Name: r.name, Note: r.HeadFile, Retrieval: r.measured.Trained, Detection: r.measured.Detection,
			Strong: r == best && len(asGood(runs, best)) == 1,
		})
	}
	report.Verdict = []string{bestOf(runs, best)}
	report.Sections = []page.Section{
		differences(runs), {Title: "Their training", Charts: overEachOther(runs)}, filtersOf(runs),
	}
	report.Sections = slices.DeleteFunc(report.Sections, func(s page.Section) bool {
		return len(s.Tables)+len(s.Charts)+len(s.Notes) == 0
	})
	report.Definitions = retrievalDefinitions()
	if report.Detected() {
		report.Definitions = append(report.Definitions, page.Fact{Name: "AUROC",
			Value: "of the training labels' scores, if the manifest has true labels: " +
				"chance that a wrong label has a lower score than a right one"})
	}
	report.Definitions = append(report.Definitions,
		page.Fact{Name: "score, P_clean",
			Value: "a filter's score of a given label: higher is more likely right. " +
				"Each run has its own scorer, so thresholds of two runs are not on one scale"},
		page.Fact{Name: "kept, threshold",
			Value: "of the labels of a batch: those whose score is at or above the filter's threshold for it"},
		page.Fact{Name: "validation",
			Value: "the measure by which the run chose the state to keep, by the given labels of its validation split"},
		page.Fact{Name: "smoothed",
			Value: fmt.Sprintf("exponential moving average over the steps logged, weight of the past %g", smoothing)},
		page.Fact{Name: "κ",
			Value: "concentration of a class's unit vectors in the memory bank (von Mises–Fisher); " +
				"boxes: quartiles and median over classes, whiskers to the outermost within 1.5 of the box's height"})
	return report
}

// distinctNames renames runs that share a name to their folders.
func distinctNames(runs []*Run) {
	count := map[string]int{}
	for _, r := range runs {
		count[r.name]++
	}
	for _, r := range runs {
		if count[r.name] > 1 {
			r.name = r.Dir
		}
	}
}

// untrainedRows returns the rows of a run's frozen and whitened features, unless an earlier run has the same.
func untrainedRows(earlier []*Run, r *Run) (rows []page.Row) {
	of := ""
	if len(earlier) > 0 {
		of = " of " + r.name
	}
	add := func(name, note string, pick func(*Run) eval.Retrieval) {
		same := func(e *Run) bool { return sameRetrieval(pick(e), pick(r)) }
		if !slices.ContainsFunc(earlier, same) {
			rows = append(rows, page.Row{Name: name + of, Note: note, Retrieval: pick(r)})
		}
	}
	add(comparison.FrozenRow, "the backbone's features, no training",
		func(e *Run) eval.Retrieval { return e.measured.Frozen })
	add(comparison.WhitenedRow, "PCA whitening, no labels",
		func(e *Run) eval.Retrieval { return e.measured.Whitened })
	return rows
}

func sameRetrieval(a, b eval.Retrieval) bool {
	return a.N == b.N && a.PrecisionAt1 == b.PrecisionAt1 && a.RPrecision == b.RPrecision && a.MAPAtR == b.MAPAtR
}

// differences returns the settings and facts that are not the same in all runs.
func differences(runs []*Run) page.Section {
	s := page.Section{Title: "Where they differ"}
	head := []string{"setting"}
	for _, r := range runs {
		head = append(head, r.name)
	}
	settings := page.Table{Caption: "Settings", Head: head, Words: true}
	var configs []config.Run
	for _, r := range runs {
		configs = append(configs, r.Config)
	}
	settings.Rows = differing(configs)
	if len(settings.Rows) > 0 {
		s.Tables = append(s.Tables, settings)
	} else {
		s.Notes = append(s.Notes, "Their settings are the same.")
	}
	facts := page.Table{Caption: "Data and results", Head: slices.Clone(head), Words: true}
	facts.Head[0] = "run"
	for _, f := range []struct {
		name string
		of   func(r *Run) string
	}{
		{"recipe", func(r *Run) string { return r.Facts.Recipe }},
		{"manifest", func(r *Run) string { return r.ManifestFile.String() }},
		{"features", func(r *Run) string { return r.Config.Data.Features }},
		{"training images, classes", func(r *Run) string {
			return fmt.Sprintf("%d, %d", r.Facts.Images, len(r.Facts.Classes))
		}},
		{"steps", func(r *Run) string { return strconv.Itoa(r.lastStep()) }},
		{"kept state", func(r *Run) string {
			if r.Result == nil {
				return "not finished"
			}
			return r.stateText()
		}},
		{"better than untrained", func(r *Run) string {
			if r.Result != nil && r.Result.Better != nil { // regardless of the score at its start
				return "no"
			}
			return r.comparison().Better()
		}},
		{"P@1 %", func(r *Run) string { return percentText(r.measured.Trained.PrecisionAt1) }},
		{"wrong labels found, AUROC", func(r *Run) string {
			if d := r.measured.Detection; d != nil && d.Wrong > 0 {
				return fmt.Sprintf("%.4f", d.AUROC)
			}
			return ""
		}},
		{"seconds", func(r *Run) string {
			if r.Result == nil {
				return ""
			}
			return fmt.Sprintf("%.1f", r.Result.Seconds)
		}},
		{"winnow", func(r *Run) string { return r.Facts.Winnow }},
	} {
		row := []string{f.name}
		for _, r := range runs {
			row = append(row, cmp.Or(f.of(r), "–"))
		}
		if strings.Trim(strings.Join(row[1:], ""), "–") != "" {
			facts.Rows = append(facts.Rows, row)
		}
	}
	s.Tables = append(s.Tables, facts)
	return s
}

// differing returns a row for each setting that is not the same in all runs: its key and its values.
func differing(runs []config.Run) (rows [][]string) {
	flat := flattened(runs)
	for _, key := range settingKeys(runs...) {
		row, same := []string{key}, true
		for _, f := range flat {
			row, same = append(row, cmp.Or(f[key], "–")), same && f[key] == flat[0][key]
		}
		if !same {
			rows = append(rows, row)
		}
	}
	return rows
}

// mostDiffering is how many differing settings are said in words.
const mostDiffering = 6

// InWords compares finished runs by what their trainings measured on the validation split, in a few sentences. [Make]
// measures them anew and shows more.
func InWords(dirs []string) ([]string, error) {
	var list []*Course
	var configs []config.Run
	for _, dir := range dirs {
		c, err := OpenCourse(dir)
		if err != nil {
			return nil, err
		}
		list, configs = append(list, c), append(configs, c.Settings)
	}
	words := []string{measuredInWords(list)}
	rows := differing(configs)
	if len(rows) == 0 {
		return append(words, "Their settings are the same."), nil
	}
	var parts []string
	for _, row := range rows[:min(len(rows), mostDiffering)] {
		parts = append(parts, row[0]+" ("+strings.Join(row[1:], ", ")+")")
	}
	said := "They differ in " + strings.Join(parts, "; ")
	if more := len(rows) - len(parts); more > 0 {
		said += fmt.Sprintf("; and %d more settings", more)
	}
	return append(words, said+"."), nil
}

// measuredInWords says which of some runs is best by P@1 on validation, as far as that can be compared.
func measuredInWords(list []*Course) string {
	var said []string
	best, equal := list[0], 0
	for _, c := range list {
		if c.Result == nil || c.Result.Validation == nil {
			return "Not all of them measured a validation split: compare them in full."
		}
		if c.Facts.ImagesSHA256 != list[0].Facts.ImagesSHA256 || c.Result.Validation.Trained.N !=
			list[0].Result.Validation.Trained.N {
			return "They have different images or labels, so that their validation cannot be compared."
		}
		if c.p1() > best.p1() {
			best = c
		}
		said = append(said, fmt.Sprintf("%s %.4f", c.dir, c.p1()))
	}
	for _, c := range list {
		if c.p1() == best.p1() {
			equal++
		}
	}
	n := best.Result.Validation.Trained.N
	if equal > 1 {
		return fmt.Sprintf("No single one is best by P@1 on the %d validation images, by given labels: %s.", n,
			strings.Join(said, ", "))
	}
	return fmt.Sprintf("%s is best by P@1 on the %d validation images, by given labels: %s. These images chose the "+
		"state of each: a test split says more.", best.dir, n, strings.Join(said, ", "))
}

// p1 returns P@1 of the state that the training kept, on its validation split.
func (c *Course) p1() float64 { return c.Result.Validation.Trained.PrecisionAt1 }

// rateName labels the axis of learning rates.
const rateName = "learning rate"

// farApart reports whether the largest numbers of some lines are so much larger than those of others that the
// others would lie flat on the axis.
func farApart(lines []chart.Line) bool {
	least, most := math.Inf(1), 0.0
	for _, l := range lines {
		if len(l.Y) > 0 {
			least, most = min(least, slices.Max(l.Y)), max(most, slices.Max(l.Y))
		}
	}
	return least > 0 && most > muchFarther*least
}

// overEachOther returns the curves of several runs in shared charts.
func overEachOther(runs []*Run) (list []chart.Drawing) {
	for _, d := range []struct {
		frame  chart.Frame
		smooth bool
		of     func(train.Metric) *float64
	}{
		{chart.Frame{Title: "Validation", Y: "score", Percent: true}, false, validationOf},
		{chart.Frame{Title: "Training loss, per pair if it sums over pairs (smoothed)", Y: "loss"}, true, pairLossOf},
		{chart.Frame{Title: "Share of the labels kept (smoothed)", Y: "kept", Percent: true}, true, keptOf},
		{chart.Frame{Title: "Score below which labels are dropped", Y: "threshold"}, false, thresholdOf},
		{chart.Frame{Title: "Learning rate of the head", Y: rateName}, false, rateOf},
	} {
		var lines []chart.Line
		for i, r := range runs {
			lines = append(lines, r.line(r.name, i, d.smooth, d.of))
		}
		if d.frame.Y == rateName {
			d.frame.LogY = farApart(lines)
		}
		list = append(list, drawnIfAny(d.frame, lines...)...)
	}
	return list
}

// filtersOf shows the spread of the classes' concentrations, and the last scores, of the runs that have a
// filter.
func filtersOf(runs []*Run) page.Section {
	s := page.Section{Title: "Their filters"}
	var with []namedDiagnoses
	for _, r := range runs {
		if r.Config.Filter.Scorer != config.NoFilter && len(r.diagnoses) > 0 {
			with = append(with, namedDiagnoses{r.name, r.diagnoses})
		}
	}
	if boxes := kappaBoxes("Concentration κ of the classes", with...); len(boxes.Places) > 0 {
		s.Charts = append(s.Charts, readableBoxes(boxes))
	}
	for _, d := range with {
		if drawn := scoresOverTime(d.List); len(drawn) > 0 {
			last := drawn[len(drawn)-1].(chart.Histogram)
			last.Title = d.Name + ": " + last.Title
			s.Charts = append(s.Charts, last)
		}
	}
	return s
}
