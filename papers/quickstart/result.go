package quickstart

import (
	"fmt"

	"winnow/eval"
	"winnow/report/page"
)

// Result is result.json. Topline, Unfiltered and PRISM are the fine-tuned networks' last states, after equal budgets:
// where labels are wrong, there is seldom a validation split with true labels to choose a state by.
type Result struct {
	Seed      uint64         `json:"seed"`
	NoiseRate float64        `json:"noise_rate"`
	Frozen    eval.Retrieval `json:"frozen"`
	Whitened  eval.Retrieval `json:"whitened"`
	Trio                     // of the fine-tuned network
	Detection eval.Detection `json:"detection"`
	// Chosen are the same trainings, with the state chosen by such a split.
	Chosen   Trio               `json:"chosen_by_validation"`
	HeadOnly Trio               `json:"frozen_features"` // a head on fixed features, last states
	Verdict  []string           `json:"verdict"`
	Seconds  map[string]float64 `json:"seconds"`

	dir string
}

// Trio compares three trainings of one kind: the cost of the noise, and the share of it that the filter recovered.
type Trio struct {
	Topline    eval.Retrieval `json:"topline"`
	Unfiltered eval.Retrieval `json:"unfiltered"`
	PRISM      eval.Retrieval `json:"prism"`
	Cost       float64        `json:"noise_cost"`      // P@1 of topline minus that of unfiltered
	Recovered  *float64       `json:"recovered_share"` // by PRISM; null: the noise cost nothing
}

// judge computes Cost and Recovered.
func (t *Trio) judge() {
	if t.Cost = t.Topline.PrecisionAt1 - t.Unfiltered.PrecisionAt1; t.Cost > 0 {
		t.Recovered = new((t.PRISM.PrecisionAt1 - t.Unfiltered.PrecisionAt1) / t.Cost)
	}
}

// rows returns the compared embeddings, in order.
func (r *Result) rows() []page.Row {
	wrong := fmt.Sprintf("labels of which %.0f %% are wrong", 100*r.NoiseRate)
	return []page.Row{
		{Name: "frozen", Note: "the backbone's features, no training", Retrieval: r.Frozen},
		{Name: "whitened", Note: "PCA whitening, no labels", Retrieval: r.Whitened},
		{Name: "head topline", Note: "a head alone, on the true labels", Retrieval: r.HeadOnly.Topline},
		{Name: "head unfiltered", Note: "a head alone, on " + wrong, Retrieval: r.HeadOnly.Unfiltered},
		{Name: "head PRISM", Note: "the same labels, filtered while training", Retrieval: r.HeadOnly.PRISM},
		{Name: "topline", Note: "the whole network, on the true labels", Retrieval: r.Topline},
		{Name: "unfiltered", Note: "the whole network, on " + wrong, Retrieval: r.Unfiltered},
		{Name: "PRISM vMF-Sim", Note: "the same labels, filtered while training", Retrieval: r.PRISM,
			Detection: &r.Detection, Strong: true},
	}
}
