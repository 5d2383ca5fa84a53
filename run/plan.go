package run

import (
	"winnow/datasets"
	"winnow/filters"
	"winnow/head"
	"winnow/run/config"
	"winnow/run/extraction"
	"winnow/run/folder"
	"winnow/run/tuning"
	"winnow/train"
)

// Input is data that the caller has already. With the zero value, everything is read from the files that the
// configuration names.
type Input struct {
	Manifest *datasets.Dataset // the configuration's manifest
	Data     *Data             // no file is read, and only package train writes to the folder
	Backbone tuning.Backbone   // for Data; the caller closes it. nil: as the configuration says
}

// Options say where a training is kept, what computes, and where reports go.
type Options struct {
	Dir       string // "": nothing is kept
	Resume    bool   // go on from the checkpoint in Dir
	Overwrite bool   // delete an earlier run in Dir when this one begins
	Last      bool   // the result is the last state, whatever validation says

	Host  extraction.Host // without Runtime heads compute in Go
	About folder.Facts    // the caller's, for run.json: device, threads, recipe

	Note  func(format string, args ...any)                         // takes notes about data and plan; may be nil
	Watch func(what string) (at func(done, total int), end func()) // shows progress of what takes long; may be nil

	Checks *datasets.Checks // what people decided about labels; nil: nothing, or what a resumed run began with
}

// Facts that observers of a training receive besides those of package train.
type (
	Saving struct{}                  // before each checkpoint
	Ended  struct{ Last *head.Head } // before the state that validation chose replaces the last one
)

// Plan says what a training will do: the configuration with every choice made, and what it means for these data.
type Plan struct {
	Config config.Run `json:"-"`

	Steps     int    `json:"steps"`
	Epoch     int    `json:"steps_per_epoch"`
	Resumed   int    `json:"resumed"`  // steps done before
	Images    int    `json:"images"`   // to train on
	Labelled  int    `json:"labelled"` // of these, before screening
	Classes   int    `json:"classes"`
	Validates bool   `json:"validates"`        // there is a validation split
	Rests     int    `json:"backbone_rests"`   // steps in which the backbone rests
	Refits    int    `json:"refits,omitempty"` // steps after which the head starts again; 0: it does not
	Sum       string `json:"config_sha256"`    // of the settings and data that decide the result

	Reading *datasets.Reading `json:"reading,omitempty"` // how the manifest was read; nil: by the caller

	Screening *folder.Screening `json:"screening,omitempty"`      // labels that were screened; nil: none
	Noise     *folder.NoiseRate `json:"noise_rate,omitempty"`     // nil: it was given
	Rates     *folder.RateTest  `json:"learning_rates,omitempty"` // nil: given, or found before this call
	Untrained *folder.Untrained `json:"untrained,omitempty"`      // nil: not measured
}

// Outcome is the result of a training.
type Outcome struct {
	train.Result
	Config  config.Run     // as it was run
	Head    *head.Head     // the best by validation, or the last: see [Options]
	Filter  filters.Config // as it was run; Scorer is config.NoFilter without one
	Summary folder.Result  // result.json; empty without a manifest or a folder
}
