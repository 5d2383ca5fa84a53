package inspect

import (
	"math"
	"slices"

	"winnow/audit"
	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/classnames"
	"winnow/datasets/location"
	"winnow/eval"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/run/folder"
)

// Report is an audit with names, as written.
type Report struct {
	Scorer string `json:"scorer"`
	// Blind says that features predict labels no better than chance, so that none is judged.
	Blind bool    `json:"blind,omitempty"`
	Why   string  `json:"scorer_chose,omitempty"`   // what the scorer chose for this set, and why
	Rate  float64 `json:"rate"`                     // share of the labels that is flagged
	Asked bool    `json:"rate_asked_for,omitempty"` // not by how likely each is wrong
	// CalledWrong and ExpectedWrong count labels: those that are each likely wrong, and the expected number of all that
	// are, many of them unlikely ones; nil if unknown.
	CalledWrong   int      `json:"called_wrong"`
	ExpectedWrong *float64 `json:"expected_wrong"`
	// Alike says that mistakes were tested to go to all classes alike; else the noise rate's interval assumes nothing.
	Alike bool `json:"mistakes_alike"`
	// Model is the backbone that the audit itself embedded the images with.
	Model     string             `json:"model,omitempty"`
	Store     string             `json:"store,omitempty"` // the features that it made
	Detection *eval.Detection    `json:"detection"`       // null if the true labels are unknown
	Images    []suspects.Suspect `json:"images"`
	// Unjudged counts images with nothing to compare with, such as those alone in their class; their score is 1
	Unjudged int               `json:"unjudged"`
	LeftOut  []lookup.LeftOut  `json:"left_out"`
	Noise    *folder.NoiseRate `json:"estimated_noise"` // null if there is nothing to estimate it from
	Classes  []Class           `json:"classes"`
	Looked   bool              `json:"pictures_measured"` // so that Images have the problems of pictures
	// Groups are the groups of copies; images have a group's number, from 1.
	Groups []datasets.Duplicates `json:"copy_groups"`

	Reading *datasets.Reading `json:"reading,omitempty"` // how the source was read, and what was left out

	// Checked says what the decisions of people are, and what was learnt from them; nil: there are none.
	Checked *Decided `json:"checked,omitempty"`

	// Check is the command that shows images drawn at random, which tell how many labels are wrong; "": none.
	Check string `json:"check_command,omitempty"`

	// Names are shown to people in place of labels.
	Names classnames.Names `json:"-"`

	result  audit.Result
	decided map[int]datasets.Decision // what a run decided before its training
	checks  *datasets.Checks
	data    *datasets.Dataset // as it was judged
	ids     []int             // position in the manifest of each row of the result
	source  *datasets.Dataset
	store   *features.Store // of the images; nil: none
	from    location.Source // the file that source was read from
	root    location.Source // of its images, as named
}

// Class is what an audit finds about a class.
type Class struct {
	Class  string  `json:"class"`
	Images int     `json:"images"`
	Kappa  float64 `json:"kappa"`
	Purity float64 `json:"purity"` // estimated share of right labels, with its 95 % interval
	Low    float64 `json:"purity_low"`
	High   float64 `json:"purity_high"`
	Like   string  `json:"most_like"`
	Alike  float64 `json:"likeness"`
	Same   bool    `json:"looks_like_the_same"` // as most_like: one class under two names
	Groups float64 `json:"sides_alike"`
	Two    bool    `json:"looks_like_two"` // two classes under one name
}

// nameResult fills in the result; ids are the positions of its rows in the dataset.
func (a *Report) nameResult(result audit.Result, ids []int, m *material, note func(string, ...any)) error {
	d, classes := m.d, m.classes
	if n := len(ids) - len(result.Suspects); n > 0 {
		note("%d images have no label and are not judged", n)
	}
	a.result, a.data, a.ids = result, d, ids
	a.Scorer, a.Why, a.Blind = result.Scorer, result.Why, result.Blind
	a.Rate, a.Asked, a.Alike, a.Unjudged = result.Rate, result.Asked, result.Alike, result.Unjudged
	for _, s := range result.Suspects {
		if s.Dropped {
			a.CalledWrong++
		}
	}
	if !math.IsNaN(result.Expected) {
		a.ExpectedWrong = &result.Expected
	}
	paths := make([]string, len(ids))
	for row, id := range ids {
		paths[row] = d.Samples[id].Path
	}
	a.Images = result.Name(paths, classes)
	a.groupCopies(m.given)
	if result.NoFindings != nil && a.Unjudged < len(a.Images) {
		note("no class statistics: %v", result.NoFindings)
	}
	if result.Noise != nil {
		w := folder.WrittenRate(*result.Noise)
		a.Noise, a.Classes = &w, make([]Class, len(result.Classes))
	}
	for i, k := range result.Classes {
		a.Classes[i] = Class{
			Class: classes[k.Class.Class], Images: k.Images, Kappa: k.Kappa, Purity: k.Purity, Low: k.Low, High: k.High,
			Like: classes[k.Like], Alike: k.Alike, Same: k.SameAsLike(), Groups: k.Groups, Two: k.LooksLikeTwo(),
		}
	}
	return a.measureAudit(d)
}

// measureAudit compares the audit with the true labels, if the manifest has them.
func (a *Report) measureAudit(d *datasets.Dataset) error {
	wrong := make([]bool, len(a.ids))
	for row, id := range a.ids {
		wrong[row] = d.Samples[id].Label != d.Samples[id].True
	}
	for i, s := range a.Images {
		if y := d.Samples[a.ids[s.Row]].True; y != datasets.Unlabelled {
			a.Images[i].True = d.Classes[y]
		}
	}
	if !d.HasTruth(datasets.Train) {
		return nil
	}
	open := a.result // of checked labels everything is known
	open.Suspects = slices.DeleteFunc(slices.Clone(a.Images), func(e suspects.Suspect) bool { return e.Checked != "" })
	if len(open.Suspects) == 0 {
		a.Detection = nil
		return nil
	}
	detection, err := open.Measure(wrong)
	a.Detection = &detection
	return err
}
