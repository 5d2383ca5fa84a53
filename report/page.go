// Package report makes an HTML page about a run. The page shows what was trained, the curves of the training and of the
// filter, retrieval compared with untrained features, the classes, the audit of the training labels, warnings, and
// definitions of all numbers.
//
// [Make] does everything. Its steps: [Open] reads a run, [Run.Measure] measures and audits it, [Run.Page] returns the
// page as data, and [Run.Illustrate] adds the images and the map. [WriteAudited] writes the page of "winnow audit", and
// [DrawMap] makes the map of "winnow map". All pages are built with winnow/report/page.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"winnow/backbone"
	"winnow/datasets"
	"winnow/eval"
	"winnow/report/page"
	"winnow/run/config"
	"winnow/run/folder"
)

// Page returns the report of a run without suspects, queries and map; [Run.Illustrate] adds these.
func (r *Run) Page() page.Report {
	report := page.Report{
		Command: "report", Title: "Run “" + r.name + "”", Verdict: r.listVerdict(), Warnings: r.measured.Warnings,
		RowsTitle: r.rowsTitle(), K: []int{1, 2, 4, 8},
		Rows: []page.Row{
			{Name: folder.FrozenRow, Note: "the backbone's features, no training", Retrieval: r.measured.Frozen},
			{Name: folder.WhitenedRow, Note: "PCA whitening, no labels", Retrieval: r.measured.Whitened},
			{
				Name: folder.TrainedRow, Note: r.HeadFile,
				Retrieval: r.measured.Trained, Detection: r.measured.Detection, Strong: true,
			},
		},
		Sections:    []page.Section{r.trainedOn(), r.describeCourse()},
		Definitions: r.explainNumbers(),
	}
	if r.Config.Filter.Scorer != config.NoFilter {
		report.Sections = append(report.Sections, page.Section{
			Title: "The filter", Charts: r.drawFilterCurves(), Notes: r.filterNotes(),
		})
	}
	report.Sections = append(report.Sections, r.describeClasses(), r.describeLabels())
	return report
}

// listVerdict returns the result in sentences.
func (r *Run) listVerdict() []string {
	text := r.compareRows().Verdict()
	list := []string{fmt.Sprintf("On %s, %s.", r.SplitText(), text)}
	if d := r.measured.Detection; d != nil && d.Wrong > 0 {
		list = append(list, fmt.Sprintf("%d of %d training labels are wrong; the scores rank a random wrong label "+
			"as more suspect than a random right label with probability %.3f (AUROC).", d.Wrong, d.Samples, d.AUROC))
	}
	return list
}

// trainedOn returns a section with the data, the versions, and the settings that differ from the defaults.
func (r *Run) trainedOn() page.Section {
	s := page.Section{Title: "What was trained", Facts: r.trainedFacts()}
	data := page.Table{
		Caption: "The images, by split",
		Head:    []string{"split", "images", "classes", "smallest class", "largest class", "without label"},
	}
	for _, n := range r.Manifest.Count() {
		data.Rows = append(data.Rows, []string{
			n.Split, strconv.Itoa(n.Samples), strconv.Itoa(n.Classes),
			strconv.Itoa(n.Smallest), strconv.Itoa(n.Largest), strconv.Itoa(n.Unlabelled),
		})
	}
	s.Tables = append(s.Tables, data)
	settings := page.Table{
		Caption: "Settings that differ from the defaults",
		Head:    []string{"setting", "this run", "default"}, Words: true,
	}
	usual := usualSettings(r.Config)
	for _, key := range settingKeys(r.Config) {
		if was, is := usual[key], config.Flatten(r.Config)[key]; was != is {
			settings.Rows = append(settings.Rows, []string{key, cmp.Or(is, "–"), cmp.Or(was, "–")})
		}
	}
	if len(settings.Rows) == 0 {
		s.Notes = append(s.Notes, "All settings are the defaults.")
		return s
	}
	s.Tables = append(s.Tables, settings)
	return s
}

// usualSettings returns the default settings, including those of the losses that the run used.
func usualSettings(run config.Run) map[string]string {
	usual, own := config.Flatten(config.Default()), config.Default()
	own.Losses = slices.Clone(run.Losses)
	for i := range own.Losses {
		own.Losses[i].Settings = nil
	}
	if own.Validate() != nil { // losses that do not fit the other defaults
		return usual
	}
	for key, value := range config.Flatten(own) {
		if strings.HasPrefix(key, "losses.") && strings.Contains(key, ".settings.") {
			usual[key] = value
		}
	}
	return usual
}

// settingKeys returns the sorted names of all settings of the runs, except the locations of the data ("data.…").
func settingKeys(runs ...config.Run) []string {
	var keys []string
	seen := map[string]bool{}
	for _, flat := range append([]map[string]string{config.Flatten(config.Default())}, flattenSettings(runs)...) {
		for key := range flat {
			if !seen[key] && !strings.HasPrefix(key, "data.") {
				seen[key], keys = true, append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

func flattenSettings(runs []config.Run) (list []map[string]string) {
	for _, r := range runs {
		list = append(list, config.Flatten(r))
	}
	return list
}

// trainedFacts returns the facts that identify a run: its method, data, network, length, seed and versions.
func (r *Run) trainedFacts() []page.Fact {
	f := r.Facts
	var facts []page.Fact
	add := func(name, format string, args ...any) {
		facts = append(facts, page.Fact{Name: name, Value: fmt.Sprintf(format, args...)})
	}
	add("run", "%s, started %s", r.Dir, f.Started.UTC().Format("2006-01-02 15:04 MST"))
	if f.Recipe != "" {
		add("recipe", "%s (sha256 %.12s…)", f.Recipe, f.RecipeSHA256)
	}
	add("method", "%s", r.Config.Method)
	if names := config.LossList(config.Flatten(r.Config)); r.Config.Method == config.Metric && names != "" {
		add("losses", "%s", names)
		add("filter", "%s", r.Config.Filter.Scorer)
	}
	if f.NoiseRate != nil {
		add("share of wrong labels", "estimated before the training: %s", f.NoiseRate)
	}
	if f.Screening != nil {
		add("screened", "%s", f.Screening)
	}
	add("manifest", "%s%s; labels and images %.12s…", r.ManifestFile, shaText(f.ManifestSHA256), f.ImagesSHA256)
	add("images", "%d to train on, of %d classes; %d for validation", f.Images, len(f.Classes), f.Validation)
	add("features", "%s (sha256 %.12s…), network %.12s…, output %s",
		cmp.Or(r.Config.Data.Features, f.Features, r.Store.Dir),
		f.FeaturesSHA256, f.FeaturesKey.Model, f.FeaturesKey.Output)
	if p, err := backbone.ParsePreprocessing(f.FeaturesKey.Preprocessing); err == nil {
		add("preparation", "%s", p.Describe())
	}
	if f.Backbone != "" {
		add("backbone", "%s, fine-tuned: %d weights", f.Backbone, len(f.TunedWeights))
	}
	in, out := r.Head.Config().In, r.Head.Config().Out
	add("head", "%d values → %d, linear", in, out)
	add("length", "%d steps of %d planned, %d an epoch", r.lastStep(), f.Steps, f.StepsPerEpoch)
	if r.Result != nil {
		add("kept", "%s", r.stateText())
		add("time", "%s", (time.Duration(r.Result.Seconds * float64(time.Second))).Round(100*time.Millisecond))
	}
	add("seed", "%d", f.Seed)
	add("versions", "winnow %s, %s, ONNX Runtime %s, device %s; this page by winnow %s",
		f.Winnow, f.Go, f.ORT, f.Device, r.winnow)
	return facts
}

// stateText describes which state of the training was kept.
func (r *Run) stateText() string {
	switch {
	case r.HeadFile == folder.LastHeadFile || r.Result.BestStep < 0:
		return fmt.Sprintf("the last state, after step %d", r.Result.Steps)
	case r.Result.Stopped:
		return fmt.Sprintf("the state after step %d, the best on validation; stopped early after step %d",
			r.Result.BestStep, r.Result.Steps)
	}
	return fmt.Sprintf("the state after step %d, the best on validation", r.Result.BestStep)
}

func shaText(sum string) string {
	if sum == "" {
		return ""
	}
	return fmt.Sprintf(" (sha256 %.12s…)", sum)
}

// describeCourse returns a section with the curves of the training and its validation result.
func (r *Run) describeCourse() page.Section {
	s := page.Section{Title: "The training", Charts: append(r.drawReadableCurves(), r.drawOtherCurves()...)}
	if note := r.lossNote(); note != "" {
		s.Notes = append(s.Notes, note)
	}
	if r.Result != nil && r.Result.Validation != nil && r.Split != datasets.Validation {
		v := r.Result.Validation
		table := page.Table{
			Caption: "Results of the kept state on the validation split",
			Head:    []string{"embedding", "P@1 %", "R-Prec %", "MAP@R %", "queries"},
		}
		for _, row := range []struct {
			name string
			r    eval.Retrieval
		}{{folder.FrozenRow, v.Frozen}, {folder.WhitenedRow, v.Whitened}, {folder.TrainedRow, v.Trained}} {
			table.Rows = append(table.Rows, []string{
				row.name, percentText(row.r.PrecisionAt1), percentText(row.r.RPrecision),
				percentText(row.r.MAPAtR), strconv.Itoa(row.r.N),
			})
		}
		s.Tables = append(s.Tables, table)
	}
	return s
}

func percentText(v float64) string { return fmt.Sprintf("%.1f", 100*v) }
