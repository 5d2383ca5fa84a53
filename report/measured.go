package report

import (
	"winnow/eval"
	"winnow/internal/lookup"
)

// Measured holds the measurements of one run.
type Measured struct {
	Run       string                `json:"run"`
	Frozen    eval.Retrieval        `json:"frozen"`
	Whitened  eval.Retrieval        `json:"whitened"`
	Trained   eval.Retrieval        `json:"trained"`
	Classes   []eval.ClassRetrieval `json:"classes"`
	Detection *eval.Detection       `json:"detection"` // null without true labels
	Warnings  []string              `json:"warnings"`
	LeftOut   []lookup.LeftOut      `json:"left_out"`
	InGallery int                   `json:"queries_in_gallery,omitempty"` // queries that are also in the gallery
}
