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

// Input holds data that the caller has in memory. With the zero value, [Resolve] reads everything from the files that
// the configuration names.
type Input struct {
	Manifest *datasets.Dataset // the configuration's manifest
	Data     *Data             // if set, Resolve reads no files, and only package train writes to the folder
	Backbone tuning.Backbone   // the network for Data; the caller closes it. nil: the configured network
}

// Options holds the folder, the runtime and the callbacks of a training.
type Options struct {
	Dir       string // folder of the run; "": no files are written
	Resume    bool   // continue from the checkpoint in Dir
	Overwrite bool   // delete an earlier run in Dir when this run starts
	Last      bool   // return the last state, not the best by validation

	Host  extraction.Host // with no Runtime, heads compute in Go
	About folder.Facts    // facts from the caller for run.json: device, threads, recipe

	Note  func(format string, args ...any)                         // receives notes on data and plan; may be nil
	Watch func(what string) (at func(done, total int), end func()) // shows the progress of long tasks; may be nil

	Checks *datasets.Checks // decisions of people about labels; nil: none, or those that a resumed run started with
}

// Events that observers of a training receive in addition to the events of package train.
type (
	Saving struct{}                  // sent before each checkpoint
	Ended  struct{ Last *head.Head } // sent before the best state by validation replaces the last state
)

// Plan describes a training before it runs: the configuration with every choice made, and sizes of these data.
type Plan struct {
	Config config.Run `json:"-"`

	Steps     int    `json:"steps"`
	Epoch     int    `json:"steps_per_epoch"`
	Resumed   int    `json:"resumed"`  // steps that an earlier part of the run made
	Images    int    `json:"images"`   // number of training images
	Labelled  int    `json:"labelled"` // labelled training images, before screening
	Classes   int    `json:"classes"`
	Validates bool   `json:"validates"`        // there is a validation split
	Rests     int    `json:"backbone_rests"`   // number of first steps in which the backbone is frozen
	Refits    int    `json:"refits,omitempty"` // step after which the head is whitened anew; 0: never
	Sum       string `json:"config_sha256"`    // SHA-256 of the settings and data that determine the result

	Reading *datasets.Reading `json:"reading,omitempty"` // how the manifest was read; nil if the caller read it

	Screening *folder.Screening `json:"screening,omitempty"`      // result of screening; nil: not screened
	Noise     *folder.NoiseRate `json:"noise_rate,omitempty"`     // estimated noise rate; nil: configured
	Rates     *folder.RateTest  `json:"learning_rates,omitempty"` // nil: configured, or found by an earlier part
	Untrained *folder.Untrained `json:"untrained,omitempty"`      // P@1 without training; nil: not measured
}

// Outcome is the result of a training.
type Outcome struct {
	train.Result
	Config  config.Run     // with every choice made
	Head    *head.Head     // the best by validation, or the last (Options.Last)
	Filter  filters.Config // with every choice made; without a filter, Scorer is config.NoFilter
	Summary folder.Result  // contents of result.json; empty without a manifest or a folder
}
