// Package inspect audits images, the stored features or class probabilities of a manifest, or a run ([Judge]). It opens
// and joins the vectors and scores that package audit takes, names images and classes, compares with the truth if the
// manifest has it, and writes the mended manifest.
//
// A run is judged in its embedding by a judge of whole sets or a filter's scorer, by the proxies of its last state,
// by the weights of its samples, or by the losses and scores that the training recorded. Noise rate, classes,
// outliers and copies are found in the stored features, whitened, which have not learnt the labels.
package inspect

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"winnow/audit"
	"winnow/backbone"
	"winnow/datasets"
	"winnow/datasets/classnames"
	"winnow/datasets/location"
	"winnow/internal/hint"
	"winnow/run/extraction"
	"winnow/run/folder"
)

// Options say how labels are judged. Judging sets Classes, Whiten and Filter itself.
type Options struct {
	audit.Options      // Scorer "": the run's; without a run the default
	IncludeEval   bool // judge the images of all splits together
	// FitSample, with stored features: fit to this many images and sums over all ([audit.Basis]); 0:
	// [audit.Together] decides
	FitSample int
	Together  bool   // judge all images together, however many they are
	Held      int64  // bytes of MaxMem that the caller holds; MaxMem is here the limit for everything
	Tuning    Tuning // of networks that judge beside heads
}

// Usual returns the settings of an audit for which none are given.
func Usual() Options {
	return Options{Options: audit.Options{Neighbours: 10, Rounds: 1, Seed: 1}}
}

// Host is what an audit runs on, and who follows it; all of it is optional.
type Host struct {
	extraction.Host
	// Told follows the steps of heads and networks, or the images of an audit by a sample
	Told func(done, total, kept int, where string)
	// Stage begins a stage of Images, with its expected time, 0 if unknown, and that of all later stages
	Stage func(name string, expected, after time.Duration)
}

// auditing is an audit under way.
type auditing struct {
	Options
	audit.Auditor
	Host
	pictures fs.FS           // of the images, to compare likely copies; nil: they are not at hand
	looks    []backbone.Look // of all pictures of the manifest, in its order
	beside   *beside         // counts beside the scorer; nil: none
	names    *classnames.Names
}

// newAuditing completes the options and the host.
func newAuditing(o Options, h Host) auditing {
	if h.Host = h.Complete(); h.Stage == nil {
		h.Stage = func(string, time.Duration, time.Duration) {}
	}
	if o.Scorer != "" {
		o.Scorer = audit.Named(o.Scorer).Name
	}
	return auditing{Options: o, Auditor: audit.Auditor{Told: h.Told}, Host: h}
}

// Input is what is judged: the training labels of Run, the labels of Images, or the training labels of Manifest.
type Input struct {
	Run *folder.Run
	// Images to look at: a manifest, a folder with a folder for each class, its .zip file, or shards
	Images location.Source
	// Manifest is a file or folder judged by Features, Probs or both. With Probs alone it need not name its images.
	Manifest location.Source
	// Features are stores, separated by commas; for Images, the folder that keeps the features for the next audit.
	Features string
	View     string // of stores with several
	Probs    string // a file of class probabilities
	// Root of the paths of Images, and of those that a fine-tuning reads; none: as the manifest and the store say
	Root   location.Source
	Model  string   // backbones by name or file, separated by commas; "": an installed one, or the store's
	Splits []string // of Images that are judged; none: all

	Names   string         // file with names of the classes, as [classnames.Choose] takes it
	Columns datasets.Names // of Images or Manifest, if they are a table; none: usual names

	Checks *datasets.Checks // what people decided about labels before; nil: nothing
}

// checkInput refuses settings that do not go together. It reads nothing.
func (in Input) checkInput(o Options) error {
	by, tunes, several := audit.Named(o.Scorer), o.Tuning.Weights != "", strings.Contains(in.Features, ",")
	if !in.Images.IsZero() {
		several = strings.Contains(in.Model, ",")
	}
	switch {
	case in.Run != nil && o.Scorer != "" && by.Trains:
		return hint.Unfit("scorer", "%s trains its own heads on stored features: give features and labels, and no run",
			by.Name)
	case !tunes && o.Tuning.Augment != "":
		return hint.Unfit("augment", "varies the images of a fine-tuning: fine-tune all of the network, or from a "+
			"stage on")
	case in.Probs != "" && (tunes || o.Rounds > 1):
		return hint.Unfit("probs", "probabilities are the scores: expected no fine-tuning and a single seed")
	case o.FitSample > 0 && !by.Shardable:
		return hint.Unfit("fit-sample", "scorer %s needs all images at once, expected one of %s", by.Name,
			strings.Join(audit.Shardable(), ", "))
	case o.FitSample > 0 && (in.Probs != "" || tunes || o.Rounds > 1 || several):
		return hint.Unfit("fit-sample", "judges by heads or centres on the features of one store: expected no "+
			"probabilities, no fine-tuning, a single seed and one store or backbone")
	case tunes && !by.Trains:
		return hint.Unfit("finetune", "scorer %s learns nothing out of fold, expected one of combined, crossfit",
			by.Name)
	}
	return nil
}

// Judge judges the labels of an input by the scorer asked for; without one, a run by what it judges by itself, and
// everything else by the default scorer.
func Judge(ctx context.Context, in Input, options Options, h Host) (*Report, error) {
	o := newAuditing(options, h)
	var names classnames.Names
	o.names = &names
	if err := in.checkInput(o.Options); err != nil {
		return nil, err
	}
	judge := func() (*Report, error) { return ofStored(ctx, in, o) }
	switch {
	case in.Run != nil:
		judge = func() (*Report, error) {
			if err := o.nameClasses(in, in.Run.Given); err != nil {
				return nil, err
			}
			return ofRun(ctx, in.Run, o)
		}
	case !in.Images.IsZero():
		judge = func() (*Report, error) { return ofImages(ctx, in, o) }
	}
	a, err := judge()
	if err == nil && in.Checks != nil {
		err = a.learnFromDecisions(ctx, in, o.Note)
	}
	if err == nil {
		a.Names = names
		err = a.suggestClasses(ctx, in)
	}
	if err == nil && a.rateKnown() {
		for i := range a.Images {
			a.Images[i].RateKnown = true
		}
	}
	return a, err
}

// nameClasses finds the names of the classes of d.
func (o *auditing) nameClasses(in Input, d *datasets.Dataset) error {
	n, why, err := classnames.Choose(in.Names, d)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if *o.names = n; why != "" {
		o.Note("%s", why)
	}
	return nil
}
