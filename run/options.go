package run

import (
	"time"

	"winnow/extraction"
	"winnow/filters"
	"winnow/head"
	"winnow/run/comparison"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// Options say where a run is kept, who watches it, and, for [Open], what computes and reports on the way.
type Options struct {
	Dir       string // "": nothing is kept
	Winnow    string // its version, for what is kept
	Resume    bool
	Overwrite bool // Open: an earlier run in Dir goes when this one begins
	Last      bool // the run's head is left as it ended, whatever validation says

	Host  extraction.Host                                          // Open: without Runtime the one that is found trains a backbone
	About folder.Facts                                             // Open: what the caller knows for run.json: device, threads, recipe
	Note  func(format string, args ...any)                         // Open: takes what a person may want to know of data and plan; may be nil
	Watch func(what string) (at func(done, total int), end func()) // Open: shows what takes long before a backbone is trained

	Begun     func(plan Plan) error    // everything is built and nothing written yet
	Ended     func(h *head.Head) error // the last state, before the one that validation chose takes its place
	Stepped   func(train.Step)
	Validated func(train.Validation)
	Diagnosed func(train.Diagnosis)
	Weighed   func(train.Weighing)
	Written   func(train.Metric) // a line of metrics.jsonl
	Saving    func() error       // before each checkpoint: whoever keeps something beside it keeps it now

	Screenings *Screenings // a [Session] shares what it finds of labels with others; nil: it judges them for itself

	MLflow string // folder of MLflow's files in which a [Session] records the run, too; "": none
}

// Plan is what a run will do, as far as the data decide it.
type Plan struct {
	Config       config.Run
	Steps, Epoch int    // of the run, of an epoch
	Resumed      int    // steps done before
	Labelled     int    // training images with a label
	Validates    bool   // there is a validation split
	Rests        int    // steps in which the backbone rests
	Refits       int    // steps after which the head begins again; 0: it does not
	Sum          string // sha256 of the settings and data that make the run what it is

	Rates     *folder.RateTest      // of the learning rates that were to be found, unless they were before; else nil
	Duration  time.Duration         // that the rest of it may take on this machine, where a backbone is trained; else 0
	Untrained *comparison.Untrained // what validation finds without training, where it measures P@1; else nil
}

// Outcome is what a run came to.
type Outcome struct {
	train.Result
	Config config.Run     // as it was run
	Head   *head.Head     // the best by validation, or the last: see Options
	Filter filters.Config // as it was run; Scorer is config.NoFilter without one

	Corrections int // labels changed; an image counts as often as its label was
}
