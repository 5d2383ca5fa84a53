package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/train"
)

// reported is a run with all that its folder tells of it.
type reported struct {
	*openedRun
	name      string // on the page
	facts     runFacts
	result    *runResult // nil where the training is not finished
	metrics   []train.Metric
	diagnoses []train.Diagnosis

	split    string // measured
	data     evalResult
	now      asked // the images measured, as the run embeds them
	audited  audited
	measured reportMeasure
}

// openReported opens a run folder and reads what the training wrote beside the head.
func openReported(c *cli.Context, dir string) (*reported, error) {
	r := &reported{name: filepath.Base(filepath.Clean(dir))}
	var err error
	if r.openedRun, err = openRun(c, dir); err != nil {
		return nil, err
	}
	if err := readJSONFile(filepath.Join(dir, runFile), &r.facts); err != nil {
		return nil, err
	}
	result := new(runResult)
	switch err := readJSONFile(filepath.Join(dir, resultFile), result); {
	case err == nil:
		r.result = result
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if r.metrics, err = train.ReadMetrics(dir); err != nil {
		return nil, err
	}
	r.diagnoses, err = train.ReadDiagnostics(dir)
	return r, err
}

func readJSONFile(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// measure looks at retrieval, by class too, and at the labels of the training images.
func (r *reported) measure(c *cli.Context, mem int64) error {
	r.data = evalResult{Split: reportSplit(c, r.Manifest), View: r.view(c), LeftOut: []leftOut{}}
	data, err := readEvalData(c, r.openedRun, &r.data, false)
	if err != nil {
		return err
	}
	r.split = r.data.Split
	m := &r.measured
	m.Run, m.LeftOut = r.Dir, append(append([]leftOut{}, r.data.LeftOut...), r.facts.LeftOut...)
	opts := eval.RetrievalOptions{MaxMem: mem}
	err = eachEmbedding(r.Head, data.train, data.was, data.now, func(row string, of asked) (err error) {
		switch row {
		case frozenRow:
			m.Frozen, err = eval.Retrieve(c.Context, of.query, of.gallery, opts)
		case whitenedRow:
			m.Whitened, err = eval.Retrieve(c.Context, of.query, of.gallery, opts)
		default:
			r.now = of
			m.Trained, m.Classes, err = eval.RetrieveClasses(c.Context, of.query, of.gallery, opts)
		}
		return err
	})
	if err != nil {
		return err
	}
	if r.audited, err = r.audit(c, mem); err != nil {
		return err
	}
	m.Detection, m.Warnings = r.audited.Detection, append([]string{}, r.warnings()...)
	return nil
}

// comparison is what the page's rows show.
func (r *reported) comparison() comparison {
	return comparison{r.tuned != nil, r.measured.Frozen, r.measured.Whitened, r.measured.Trained}
}

// splitText names the split measured, for people.
func (r *reported) splitText() string {
	switch {
	case r.now.gallery != nil:
		return "query against gallery"
	case r.split == datasets.Train:
		return "train, the images that it was trained on"
	}
	return r.split
}

// unseen says whether no class measured has a training image.
func (r *reported) unseen() bool {
	trained := map[int]bool{}
	for _, i := range r.Manifest.Select(datasets.Train) {
		trained[r.Manifest.Samples[i].Label] = true
	}
	for _, class := range r.measured.Classes {
		if trained[class.Label] {
			return false
		}
	}
	return true
}

// rowsTitle heads the retrieval numbers.
func (r *reported) rowsTitle() string {
	if r.unseen() {
		return "Retrieval on classes never seen in training: " + r.splitText()
	}
	return "Retrieval: " + r.splitText()
}

// trainLabels counts the training images of each class by its given label.
func (r *reported) trainLabels() map[int]int {
	counts := map[int]int{}
	for _, i := range r.Manifest.Select(datasets.Train) {
		if label := r.Manifest.Samples[i].Label; label != features.Unlabelled {
			counts[label]++
		}
	}
	return counts
}
