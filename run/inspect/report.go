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

// Report is the result of an audit, with paths and class names instead of numbers, as written to JSON.
type Report struct {
	Scorer string `json:"scorer"`
	// Blind reports that the features predict labels no better than chance, so that no label is scored.
	Blind bool    `json:"blind,omitempty"`
	Why   string  `json:"scorer_chose,omitempty"`   // what the scorer chose for this set, and why
	Rate  float64 `json:"rate"`                     // share of the labels that is flagged
	Asked bool    `json:"rate_asked_for,omitempty"` // the user set Rate; else each flagged label is probably wrong
	// CalledWrong is the number of flagged labels. ExpectedWrong is the expected number of all wrong labels, many of
	// them not flagged: the sum of their probabilities; nil if unknown.
	CalledWrong   int      `json:"flagged"`
	ExpectedWrong *float64 `json:"expected_wrong"`
	// Alike reports that label errors spread evenly over all classes, by a test; the interval of Noise then assumes it.
	Alike bool `json:"mistakes_alike"`
	// Model is the backbone with which the audit embedded the images; "" if it was given features or probabilities.
	Model     string             `json:"model,omitempty"`
	Store     string             `json:"store,omitempty"` // folder of the features that the audit computed
	Detection *eval.Detection    `json:"detection"`       // null if the true labels are unknown
	Images    []suspects.Suspect `json:"images"`
	// Unjudged counts images that cannot be scored, such as the only image of a class; their score is 1
	Unjudged int               `json:"unjudged"`
	LeftOut  []lookup.LeftOut  `json:"left_out"`
	Noise    *folder.NoiseRate `json:"estimated_noise"` // null if it cannot be estimated
	Classes  []Class           `json:"classes"`
	Looked   bool              `json:"pictures_measured"` // the images were read, and Images lists their problems
	// Groups holds the groups of duplicates. An image refers to its group by a number from 1.
	Groups []datasets.Duplicates `json:"duplicate_groups"`

	Reading *datasets.Reading `json:"reading,omitempty"` // how the source was read, and which files were left out

	// Checked summarizes the decisions of people and their effect; nil without decisions.
	Checked *Decided `json:"checked,omitempty"`

	// Check is the command that shows random images to check, from which the noise rate is estimated; "": none.
	Check string `json:"check_command,omitempty"`

	// Names holds the class names to print instead of labels.
	Names classnames.Names `json:"-"`

	result  audit.Result
	decided map[int]datasets.Decision // changes that an audited run made to its manifest before training
	checks  *datasets.Checks
	data    *datasets.Dataset // source with the audited images as its training split
	ids     []int             // position in the manifest of each row of the result
	source  *datasets.Dataset // as it was read
	store   *features.Store   // features of the images; nil: none
	from    location.Source   // where source was read from
	root    location.Source   // folder of the images, as the user named it
}

// Class holds the statistics of a class.
type Class struct {
	Class  string  `json:"class"`
	Images int     `json:"images"`
	Kappa  float64 `json:"kappa"`
	Purity float64 `json:"purity"` // estimated share of right labels; Low and High are its 95 % interval
	Low    float64 `json:"purity_low"`
	High   float64 `json:"purity_high"`
	Like   string  `json:"most_like"`           // the most similar other class
	Alike  float64 `json:"likeness"`            // similarity to Like
	Same   bool    `json:"looks_like_the_same"` // this class and Like may be one class under two names
	Groups float64 `json:"sides_alike"`
	Two    bool    `json:"looks_like_two"` // two classes under one name
}

// nameResult fills the report from an audit's result. ids holds the dataset position of each row of the result.
func (a *Report) nameResult(result audit.Result, ids []int, m *material, note func(string, ...any)) error {
	d, classes := m.d, m.classes
	if n := len(ids) - len(result.Suspects); n > 0 {
		note("%d images have no label and are not scored", n)
	}
	a.result, a.data, a.ids = result, d, ids
	a.Scorer, a.Why, a.Blind = result.Scorer, result.Why, result.Blind
	a.Rate, a.Asked, a.Alike, a.Unjudged = result.Rate, result.Asked, result.Alike, result.Unjudged
	for _, s := range result.Suspects {
		if s.Flagged {
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

// measureAudit compares the audit with the true labels, if the manifest has them. It leaves out checked labels.
func (a *Report) measureAudit(d *datasets.Dataset) error {
	given, truth := make([]int, len(a.ids)), make([]int, len(a.ids))
	for row, id := range a.ids {
		given[row], truth[row] = d.Samples[id].Label, d.Samples[id].True
	}
	for i, s := range a.Images {
		if y := d.Samples[a.ids[s.Row]].True; y != datasets.Unlabelled {
			a.Images[i].True = d.Classes[y]
		}
	}
	if !d.HasTruth(datasets.Train) {
		return nil
	}
	open := a.result
	open.Suspects = slices.DeleteFunc(slices.Clone(a.Images), func(e suspects.Suspect) bool { return e.Checked != "" })
	if len(open.Suspects) == 0 {
		a.Detection = nil
		return nil
	}
	detection, err := open.Measure(given, truth)
	a.Detection = &detection
	return err
}
