package report

import (
	"winnow/audit/suspects"
	"winnow/eval"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/run/comparison"
)

// Measured is what was measured of one run.
type Measured struct {
	Run       string                `json:"run"`
	Frozen    eval.Retrieval        `json:"frozen"`
	Whitened  eval.Retrieval        `json:"whitened"`
	Trained   eval.Retrieval        `json:"trained"`
	Classes   []eval.ClassRetrieval `json:"classes"`
	Detection *eval.Detection       `json:"detection"` // null where true labels are not known
	Warnings  []string              `json:"warnings"`
	LeftOut   []lookup.LeftOut      `json:"left_out"`
}

// Images are what is measured: the same images as the backbone saw them before the run and as it sees them now, and the
// train split before it, from which the whitening is.
type Images struct {
	Split    string
	Train    features.Stored
	Was, Now comparison.Asked[features.Stored]
	LeftOut  []lookup.LeftOut // could not be read
}

// Judged is what an audit says of the training labels.
type Judged struct {
	Scorer    string
	Suggests  string // the scorer of the suggested labels, where that is another
	Rate      float64
	Images    []suspects.Entry // the most suspect first
	Detection *eval.Detection  // nil where true labels are not known
	Weights   bool             // the scores are the final weights of the samples of a run that weighed them
	Record    string           // what the scores mean, where they rank by what the training recorded; else ""
}
