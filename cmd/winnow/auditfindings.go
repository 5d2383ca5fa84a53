package main

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"

	"github.com/urfave/cli/v2"

	"winnow/audit/findings"
	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/filters/noiserate"
	"winnow/internal/lookup"
	"winnow/run"
	"winnow/run/folder"
	"winnow/train"
)

// auditedClass is what an audit says of a class.
type auditedClass struct {
	Class  string  `json:"class"`
	Images int     `json:"images"`
	Kappa  float64 `json:"kappa"`
	Purity float64 `json:"purity"` // estimated share of right labels, and its interval of 95 %
	Low    float64 `json:"purity_low"`
	High   float64 `json:"purity_high"`
	Like   string  `json:"most_like"`
	Alike  float64 `json:"likeness"`
	Same   bool    `json:"looks_like_the_same"` // as most_like: one class under two names
	Groups float64 `json:"sides_alike"`
	Two    bool    `json:"looks_like_two"` // two classes under one name
}

// looked is what an audit finds besides suspects, by the rows of its set.
type looked struct {
	fit    []float64 // NaN: not judged
	copies [][]eval.Neighbour
}

// lookAtStored makes look take stored features of the judged images, whitened, instead of the embedding that a run
// learnt with their labels: that one has drawn wrong labels to their classes and classes to each other, so that too few
// labels look wrong and too many classes alike. For the same reason they are those of the backbone as it was before the
// run, where these are there; else those of the network that judged.
func (a *audited) lookAtStored(r *openedRun) error {
	store := a.from
	if store == nil {
		store = r.Store
	}
	if r.Tuned != nil {
		if frozen, err := r.FrozenStore(); err == nil {
			if done, err := a.lookAt(r.Manifest, frozen); done || err != nil {
				return err
			}
		}
	}
	_, err := a.lookAt(r.Manifest, store)
	return err
}

// lookAt reads the judged images of a store; done: it has them all.
func (a *audited) lookAt(d *datasets.Dataset, store *features.Store) (done bool, err error) {
	rows, _, _, err := lookup.Rows(d, store, a.set.IDs, "")
	if err != nil || len(rows) != a.set.Len() {
		return false, nil
	}
	set := features.Set{Labels: a.set.Labels, IDs: a.set.IDs}
	if set.X, err = store.Read(rows); err != nil {
		return false, err
	}
	a.stored, err = run.JudgedVectors(run.Data{Train: set})
	a.left = nil // was of the embedding
	return err == nil, err
}

// look fills in the noise rate, the classes, the fits and the copies of the judged images; nothing where fewer than two
// classes have two, for then there is nothing to compare with.
func (a *audited) look(c *cli.Context, mem int64) error {
	z := a.set
	if a.stored.Len() > 0 {
		z = a.stored
	}
	if a.left == nil {
		s, err := leaveout.New(z, len(a.classes))
		if err != nil {
			note(c, "no class statistics: %v", err)
			return nil
		}
		a.left = s
	}
	e, err := noiserate.Of(z, len(a.classes), noiserate.Auto, train.Rand(c.Uint64("seed"), "noise rate", 0))
	if err != nil {
		return err
	}
	w := folder.WrittenRate(e)
	a.Noise = &w
	a.Classes = []auditedClass{}
	for _, k := range findings.Classes(a.left) {
		a.Classes = append(a.Classes, auditedClass{
			Class: a.classes[k.Class], Images: k.Images, Kappa: k.Kappa,
			Purity: 1 - e.Classes[k.Class], Low: 1 - e.ClassHigh[k.Class], High: 1 - e.ClassLow[k.Class],
			Like: a.classes[k.Like], Alike: k.Alike, Same: k.SameAsLike(), Groups: k.Groups, Two: k.LooksLikeTwo(),
		})
	}
	a.found = &looked{fit: make([]float64, a.set.Len())}
	for i := range a.found.fit {
		a.found.fit[i] = math.NaN()
	}
	for i, v := range findings.Fit(a.left) {
		a.found.fit[a.left.Rows[i]] = v
	}
	a.found.copies, err = findings.Copies(c.Context, z, c.Float64("copies"), mem)
	return err
}

// tell puts what was found into the entries of the images.
func (a *audited) tell(d *datasets.Dataset) {
	if a.found == nil {
		return
	}
	for i, s := range a.suspects {
		e := &a.Images[i]
		if fit := a.found.fit[s.Row]; !math.IsNaN(fit) {
			e.Fit, e.Outlier = &fit, fit < findings.Outlying
		}
		for _, n := range a.found.copies[s.Row] {
			sample := d.Samples[a.set.IDs[n.Row]]
			e.Copies = append(e.Copies, suspects.Copy{Path: sample.Path, Label: d.Classes[sample.Label], Similarity: cosine(n.Similarity)})
		}
	}
}

// writeClasses writes a table of the classes.
func (a *audited) writeClasses(w io.Writer) error {
	out := csv.NewWriter(w)
	header := []string{"class", "images", "kappa", "purity", "purity_low", "purity_high", "most_like", "likeness", "looks_like_the_same", "sides_alike", "looks_like_two"}
	if err := out.Write(header); err != nil {
		return err
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	for _, k := range a.Classes {
		err := out.Write([]string{
			k.Class, strconv.Itoa(k.Images), number(k.Kappa), number(k.Purity), number(k.Low), number(k.High),
			k.Like, number(k.Alike), strconv.FormatBool(k.Same), number(k.Groups), strconv.FormatBool(k.Two),
		})
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
