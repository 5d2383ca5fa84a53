package inspect

import (
	"math"

	"winnow/audit"
	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/classnames"
	"winnow/datasets/location"
	"winnow/eval"
	"winnow/internal/lookup"
	"winnow/run/folder"
)

// Report is an audit with names, as written.
type Report struct {
	Scorer string `json:"scorer"`
	// Blind says that features predict labels no better than chance, so that none is judged.
	Blind    bool    `json:"blind,omitempty"`
	Why      string  `json:"scorer_chose,omitempty"`   // what the scorer chose for this set, and why
	Suggests string  `json:"suggested_by,omitempty"`   // the scorer of the suggested labels, if it is another
	Rate     float64 `json:"rate"`                     // share of the labels that is flagged
	Asked    bool    `json:"rate_asked_for,omitempty"` // not by how likely each is wrong
	// CalledWrong and ExpectedWrong count labels: those that are each likely wrong, and the expected number of all that
	// are, many of them unlikely ones; nil if unknown.
	CalledWrong   int      `json:"called_wrong"`
	ExpectedWrong *float64 `json:"expected_wrong"`
	// Alike says that mistakes were tested to go to all classes alike; else the noise rate's interval assumes nothing.
	Alike    bool   `json:"mistakes_alike"`
	Backbone string `json:"backbone,omitempty"` // file of the fine-tuned network that made the features
	// Model is the backbone that the audit itself looked at the images with.
	Model string `json:"model,omitempty"`
	Store string `json:"store,omitempty"` // the features that it made
	// Sampled images were fitted to; then neither copies nor nearest images are found
	Sampled int `json:"fit_sample,omitempty"`
	// View is center or mean, if the store has several views of each image.
	View      string             `json:"view,omitempty"`
	Detection *eval.Detection    `json:"detection"` // null if the true labels are unknown
	Images    []suspects.Suspect `json:"images"`
	// Unjudged counts images with nothing to compare with, such as those alone in their class; their score is 1
	Unjudged int              `json:"unjudged"`
	LeftOut  []lookup.LeftOut `json:"left_out"`
	// Unlabelled are images without a label, with the classes that they may be of.
	Unlabelled []Unlabelled      `json:"unlabelled,omitempty"`
	Noise      *folder.NoiseRate `json:"estimated_noise"` // null if there is nothing to estimate it from
	Classes    []Class           `json:"classes"`
	Looked     bool              `json:"pictures_measured"` // so that Images have the problems of pictures
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

// nameResult fills in the result: ids are the positions in d of its rows, classes the names of its labels.
func (a *Report) nameResult(result audit.Result, ids []int, d *datasets.Dataset, classes []string,
	note func(string, ...any)) error {
	if n := len(ids) - len(result.Suspects); n > 0 {
		note("%d images have no label and are not judged", n)
	}
	a.result, a.data, a.ids, a.Sampled = result, d, ids, result.Sampled
	a.Scorer, a.Why, a.Blind, a.Suggests = result.Scorer, result.Why, result.Blind, result.Suggests
	a.Rate, a.Asked, a.Alike, a.Unjudged = result.Rate, result.Asked, result.Alike, result.Unjudged
	for _, s := range result.Suspects {
		if s.Dropped {
			a.CalledWrong++
		}
	}
	if !math.IsNaN(result.Expected) {
		a.ExpectedWrong = &result.Expected
	}
	a.LeftOut = append([]lookup.LeftOut{}, a.LeftOut...)
	paths := make([]string, len(ids))
	for row, id := range ids {
		paths[row] = d.Samples[id].Path
	}
	a.Images = result.Name(paths, classes)
	a.groupCopies(d)
	if result.NoFindings != nil && a.loneClass() == "" {
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
