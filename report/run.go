package report

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"winnow/datasets"
	"winnow/datasets/classnames"
	"winnow/eval"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/run/folder"
	"winnow/run/inspect"
	"winnow/run/measure"
	"winnow/train"
)

// Run is a training run: the contents of its folder and its measurements.
type Run struct {
	*folder.Run
	course
	name   string // shown on the page
	names  classnames.Names
	winnow string // version of the winnow that makes the page

	Split    string                     // the measured split
	now      folder.Asked[features.Set] // the measured images, embedded by the run
	audited  *inspect.Report
	measured Measured
}

// Open reads the files that a training wrote to its folder. names maps labels to class names; winnow is the version of
// the winnow that makes the page.
func Open(run *folder.Run, names classnames.Names, winnow string) (*Run, error) {
	dir := run.Dir
	if err := folder.Intact(dir, train.MetricsFile, train.DiagnosticsFile, folder.RangeFile); err != nil {
		return nil, err
	}
	course, err := readCourse(dir)
	if err != nil {
		return nil, err
	}
	return &Run{Run: run, course: course, name: filepath.Base(filepath.Clean(dir)), names: names, winnow: winnow}, nil
}

// MaxMem limits the memory of a report, in bytes.
const MaxMem = 1 << 30

// Asked holds the options of [Run.Measure].
type Asked struct {
	Split  string // "": by [UsualSplit]
	Scorer string // scorer of the training labels; "": the default of [inspect.Judge] for a run
}

// Measure measures retrieval, over all classes and for each class, and audits the training labels.
func (r *Run) Measure(ctx context.Context, o Asked) error {
	images, err := measure.Read(ctx, r.Run, measure.Options{Split: cmp.Or(o.Split, UsualSplit(r.Manifest))})
	if err != nil {
		return err
	}
	left, err := images.Similarities(r.Run, nil, MaxMem)
	if err != nil {
		return err
	}
	r.Split = images.Split
	m := &r.measured
	m.Run, m.LeftOut = r.Dir, append(append([]lookup.LeftOut{}, images.LeftOut...), r.Facts.LeftOut...)
	opts := eval.RetrievalOptions{MaxMem: eval.Bytes(left)}
	m.InGallery, opts.Same = len(images.Now.Same), images.Now.Same
	measure := func(row string, asked folder.Asked[features.Set]) (err error) {
		switch row {
		case folder.FrozenRow:
			m.Frozen, err = eval.Retrieve(ctx, asked.Query, asked.Gallery, opts)
		case folder.WhitenedRow:
			m.Whitened, err = eval.Retrieve(ctx, asked.Query, asked.Gallery, opts)
		default:
			r.now = asked
			m.Trained, m.Classes, err = eval.RetrieveClasses(ctx, asked.Query, asked.Gallery, opts)
		}
		return err
	}
	if err := folder.EachRow(ctx, r.Head, images.Train, images.Was, images.Now, measure); err != nil {
		return err
	}
	judging := inspect.Usual()
	judging.Scorer, judging.MaxMem = o.Scorer, MaxMem
	if r.audited, err = inspect.Judge(ctx, inspect.Input{Run: r.Run}, judging,
		inspect.Host{Host: r.Host}); err != nil {
		return err
	}
	r.audited.Names = r.names
	m.Detection, m.Warnings = r.audited.Detection, append([]string{}, r.listWarnings()...)
	return nil
}

// Measured returns the measurements.
func (r *Run) Measured() Measured { return r.measured }

// compareRows returns the retrieval measures of the frozen, whitened and trained embeddings, for comparison.
func (r *Run) compareRows() folder.Comparison {
	return folder.Comparison{
		FineTuned: r.Tuned != nil, Known: r.Known[r.Split],
		Frozen: r.measured.Frozen, Whitened: r.measured.Whitened, Trained: r.measured.Trained,
	}
}

// SplitText returns a name of the measured split for the page.
func (r *Run) SplitText() string {
	switch {
	case r.measured.InGallery > 0:
		return fmt.Sprintf("query against gallery; %d queries are also in the gallery and do not find themselves",
			r.measured.InGallery)
	case r.now.Gallery != nil:
		return "query against gallery"
	case r.Split == datasets.Train:
		return "train, the images used for training"
	}
	return r.Split
}

// hasUnseenClasses reports whether no measured class has a training image.
func (r *Run) hasUnseenClasses() bool {
	trained := map[int]bool{}
	for _, i := range r.Manifest.Select(datasets.Train) {
		trained[r.Manifest.Samples[i].Label] = true
	}
	return !slices.ContainsFunc(r.measured.Classes, func(c eval.ClassRetrieval) bool { return trained[c.Label] })
}

// rowsTitle returns the heading of the retrieval measures.
func (r *Run) rowsTitle() string {
	if r.hasUnseenClasses() {
		return "Retrieval on classes never seen in training: " + r.SplitText()
	}
	return "Retrieval: " + r.SplitText()
}

// trainLabels counts the training images of each given label.
func (r *Run) trainLabels() map[int]int {
	counts := map[int]int{}
	for _, i := range r.Manifest.Select(datasets.Train) {
		if label := r.Manifest.Samples[i].Label; label != features.Unlabelled {
			counts[label]++
		}
	}
	return counts
}

// UsualSplit returns the split that a report measures by default: "" for test, or for query against gallery, if the
// manifest has them; otherwise validation; otherwise train.
func UsualSplit(d *datasets.Dataset) string {
	switch usual, err := folder.UsualSplits(d); {
	case err != nil:
		return datasets.Train
	case usual[0] == datasets.Validation:
		return usual[0]
	}
	return ""
}
