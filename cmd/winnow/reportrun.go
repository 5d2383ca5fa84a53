package main

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/eval"
	"winnow/eval/comparison"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/runfolder"
	"winnow/train"
)

// reported is a run with all that its folder tells of it.
type reported struct {
	*openedRun
	name      string // on the page
	facts     runfolder.Facts
	result    *runfolder.Result // nil where the training is not finished
	metrics   []train.Metric
	diagnoses []train.Diagnosis

	mapRoom  int    // bytes that the map may have of the page
	split    string // measured
	data     evalResult
	now      comparison.Asked // the images measured, as the run embeds them
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
	if r.facts, err = runfolder.ReadFacts(dir); err != nil {
		return nil, err
	}
	switch result, err := runfolder.ReadResult(dir); {
	case err == nil:
		r.result = &result
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if r.metrics, err = train.ReadMetrics(dir); err != nil {
		return nil, err
	}
	r.diagnoses, err = train.ReadDiagnostics(dir)
	return r, err
}

// measure looks at retrieval, by class too, and at the labels of the training images.
func (r *reported) measure(c *cli.Context, mem int64) error {
	r.data = evalResult{Split: reportSplit(c, r.Manifest), View: r.Look(), LeftOut: []lookup.LeftOut{}}
	data, err := readEvalData(c, r.openedRun, &r.data, false)
	if err != nil {
		return err
	}
	r.split = r.data.Split
	m := &r.measured
	m.Run, m.LeftOut = r.Dir, append(append([]lookup.LeftOut{}, r.data.LeftOut...), r.facts.LeftOut...)
	opts := eval.RetrievalOptions{MaxMem: mem}
	err = comparison.Each(r.Head, data.train, data.was, data.now, func(row string, of comparison.Asked) (err error) {
		switch row {
		case comparison.FrozenRow:
			m.Frozen, err = eval.Retrieve(c.Context, of.Query, of.Gallery, opts)
		case comparison.WhitenedRow:
			m.Whitened, err = eval.Retrieve(c.Context, of.Query, of.Gallery, opts)
		default:
			r.now = of
			m.Trained, m.Classes, err = eval.RetrieveClasses(c.Context, of.Query, of.Gallery, opts)
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
func (r *reported) comparison() comparison.Comparison {
	return comparison.Comparison{FineTuned: r.Tuned != nil, Frozen: r.measured.Frozen, Whitened: r.measured.Whitened, Trained: r.measured.Trained}
}

// splitText names the split measured, for people.
func (r *reported) splitText() string {
	switch {
	case r.now.Gallery != nil:
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

// classesOf counts the classes that images of a split are labelled with.
func (r *reported) classesOf(split string) int {
	seen := map[int]bool{}
	for _, sample := range r.Manifest.Samples {
		if sample.Split == split && sample.Label != datasets.Unlabelled {
			seen[sample.Label] = true
		}
	}
	return len(seen)
}
