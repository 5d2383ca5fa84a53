// Package folder knows the folder that a training leaves: what its files are called and hold, how an earlier run is kept
// from being lost, and how a finished one is opened again.
package folder

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/internal/hint"
	"winnow/internal/lock"
	"winnow/train"
)

// Files of a run's folder, beside those of package train.
const (
	BestHeadFile     = "head.winnow" // by validation, or the last
	LastHeadFile     = "last.winnow"
	BestBackboneFile = "backbone.onnx" // the fine-tuned network that the head belongs to
	LastBackboneFile = "last.onnx"
	ConfigFile       = "config.yaml"     // every setting as it was used
	FactsFile        = "run.json"        // what went into the run: [Facts]
	ResultFile       = "result.json"     // what came out: [Result]
	WeightsFile      = "weights.csv"     // the samples' final weights, where they are weighed
	SamplesFile      = "samples.csv"     // what training saw of its samples: package train/samples
	CorrectionsFile  = "corrections.csv" // the labels that the run has corrected, in the order of the steps
	ScreenedFile     = "screened.csv"    // the labels that were called wrong before the training
	RangeFile        = "lr_range.csv"    // the range tests of learning rates before the training
)

// BackboneFile returns the network that belongs to a head, by the file of the head.
func BackboneFile(headFile string) string {
	if headFile == LastHeadFile {
		return LastBackboneFile
	}
	return BestBackboneFile
}

// Files lists the names of all that a run may write; event files carry a time in theirs.
func Files() []string {
	return []string{ConfigFile, FactsFile, ResultFile, BestHeadFile, LastHeadFile, BestBackboneFile, LastBackboneFile, WeightsFile, SamplesFile, CorrectionsFile, ScreenedFile, RangeFile,
		train.MetricsFile, train.DiagnosticsFile, train.CheckpointFile}
}

// filesIn lists the files of a run that are in a folder.
func filesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	known, names := Files(), []string(nil)
	for _, e := range entries {
		if slices.Contains(known, e.Name()) || strings.HasPrefix(e.Name(), "events.out.tfevents.") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Prepare makes the folder, holds it for one training until it is closed, and sees that no earlier run is lost by accident.
func Prepare(dir string, resume, overwrite bool) (io.Closer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	held, err := lock.Folder(dir)
	if err != nil {
		return nil, hint.With(fmt.Errorf("train: %w", err), "wait for it, stop it, or choose another --out")
	}
	names, err := filesIn(dir)
	if err == nil && (len(names) == 0 || resume || overwrite) {
		return held, nil
	}
	if err = errors.Join(err, held.Close()); err != nil {
		return nil, err
	}
	return nil, hint.With(fmt.Errorf("train: %s: there is a run in this folder already (%s)", dir, names[0]),
		"go on with it: --resume; throw it away: --overwrite; or choose another --out")
}

// Clear removes the files of a run, and nothing else.
func Clear(dir string) error {
	names, err := filesIn(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("train: %w", err)
		}
	}
	return removeTunedStores(dir)
}
