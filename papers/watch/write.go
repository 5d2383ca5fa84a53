package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"winnow/internal/atomicfile"
	"winnow/internal/lock"
	"winnow/internal/text"
	"winnow/report"
	"winnow/report/chart"
	"winnow/report/page"
	"winnow/run/config"
	"winnow/train"
)

// Files that [Result.Write] writes beside the drawings.
const (
	File = "trace.json"
	Page = "trace.html"
)

// Write writes numbers, page and drawings into a folder, and takes away what an earlier trace drew there and this one does not.
func (r Result) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	type file struct {
		name string
		to   func(io.Writer) error
	}
	held, err := lock.Folder(dir)
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	defer held.Close()
	var files []file
	page := page.Report{
		Title: "What the filters kept, beside the truth",
		Facts: []page.Fact{
			{Name: "manifest", Value: r.Config["data.manifest"]}, {Name: "features", Value: r.Config["data.features"]},
			{Name: "losses", Value: config.LossList(r.Config)}, {Name: "filter.rate", Value: r.Config["filter.rate"]},
			{Name: "seed", Value: r.Config["seed"]}, {Name: "winnow", Value: r.Winnow},
		},
	}
	for _, one := range r.Runs {
		page.Verdict = append(page.Verdict, fmt.Sprintf("%s: of the labels kept in the second half of training, %s are right (%s of all are); %s of the right ones were kept, and %s of the dropped are wrong.",
			one.Filter, share(one.Late.Accuracy), share(rest(one.Late.NoiseRate)), share(one.Late.Recall), share(one.Late.Precision)))
	}
	for _, drawn := range r.charts() {
		files = append(files, file{drawn.file + ".svg", drawn.WriteSVG})
		page.Charts = append(page.Charts, drawn)
	}
	files = append(files, file{Page, page.WriteHTML})
	r.Files = nil
	for _, f := range files {
		r.Files = append(r.Files, f.name)
	}
	if err := removeEarlier(dir, r.Files); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	for _, f := range append([]file{{File, r.JSON}}, files...) {
		if err := atomicfile.Write(filepath.Join(dir, f.name), f.to); err != nil {
			return fmt.Errorf("trace: %s: %w", f.name, err)
		}
	}
	return nil
}

// removeEarlier removes the drawings that an earlier trace left in a folder, as its numbers list them, but for those named. Nothing
// else there is ours, whatever it is called.
func removeEarlier(dir string, keep []string) error {
	text, err := os.ReadFile(filepath.Join(dir, File))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var earlier struct{ Files []string }
	if json.Unmarshal(text, &earlier) != nil {
		return nil // not one of ours: it is written over, as it always was
	}
	for _, name := range earlier.Files {
		if filepath.Base(name) != name || filepath.Ext(name) != ".svg" || slices.Contains(keep, name) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// JSON writes the result.
func (r Result) JSON(w io.Writer) error { return text.JSON(w, r) }

// drawing is a chart with the name of its file.
type drawing struct {
	chart.Drawing
	file string
}

func (r Result) charts() []drawing {
	var filters []Named
	var looked []report.NamedDiagnoses
	for _, one := range r.Runs {
		filters = append(filters, Named{one.Filter, one.seen.Filter})
		if slices.ContainsFunc(one.Diagnoses, func(d train.Diagnosis) bool { return d.Kappa != nil }) {
			looked = append(looked, report.NamedDiagnoses{Name: one.Filter, List: one.Diagnoses})
		}
	}
	list := []drawing{{AccuracyChart(fmt.Sprintf("Share of right labels among the kept (smoothed by %g)", r.smooth), r.smooth, filters...), "accuracy"}}
	if len(looked) > 0 {
		list = append(list, drawing{report.KappaBoxes("Concentrations of the classes over training", looked...), "kappa"})
	}
	for _, one := range r.Runs {
		for _, s := range one.Scores {
			var threshold *float64
			if v, ok := one.seen.Threshold[s.Step]; ok {
				threshold = &v
			}
			list = append(list, drawing{ScoresChart(s, threshold), fmt.Sprintf("scores-%s-%d", one.Filter, s.Step)})
		}
	}
	return list
}

// Text writes the shares as a table.
func (r Result) Text(out io.Writer) error {
	w := text.NewTable(out)
	w.Row("filter", "right among kept", "in the second half", "right ones kept", "wrong among dropped", "right in all")
	for _, one := range r.Runs {
		w.Row(one.Filter, share(one.Total.Accuracy), share(one.Late.Accuracy), share(one.Late.Recall), share(one.Late.Precision), share(rest(one.Late.NoiseRate)))
	}
	return w.Flush()
}

func share(v *float64) string { return text.PercentOr(v, "–") }
