package report

import (
	"winnow/audit/suspects"
	"winnow/eval"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/run/comparison"
)

// Measured holds the measurements of one run.
type Measured struct {
	Run       string                `json:"run"`
	Frozen    eval.Retrieval        `json:"frozen"`
	Whitened  eval.Retrieval        `json:"whitened"`
	Trained   eval.Retrieval        `json:"trained"`
	Classes   []eval.ClassRetrieval `json:"classes"`
	Detection *eval.Detection       `json:"detection"` // null if true labels are not known
	Warnings  []string              `json:"warnings"`
	LeftOut   []lookup.LeftOut      `json:"left_out"`
}

// Images are the images to measure, as the backbone saw them before the run and as it sees them now, and the
// train split before the run, from which the whitening is computed.
type Images struct {
	Split    string
	Train    features.Stored
	Was, Now comparison.Asked[features.Stored]
	LeftOut  []lookup.LeftOut // images that could not be read
}

// Judged is an audit's judgement of the training labels.
type Judged struct {
	Scorer    string
	Suggests  string // the scorer of the suggested labels, if it is another
	Rate      float64
	Images    []suspects.Suspect // the most suspect first
	Detection *eval.Detection    // nil if true labels are not known
	Weights   bool               // the scores are the final sample weights of a run that weights its samples
	Record    string             // what the scores mean, if they rank by what the training recorded; else ""
}
