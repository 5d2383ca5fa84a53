// Package folder reads and writes the folder of a run: its files, their names and contents, the protection of an
// earlier run, and how a finished one is opened.
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

// Files of a run's folder, besides those of package train.
const (
	BestHeadFile     = "head.winnow" // by validation, or the last
	LastHeadFile     = "last.winnow"
	BestBackboneFile = "backbone.onnx" // the fine-tuned network that the head belongs to
	LastBackboneFile = "last.onnx"
	ConfigFile       = "config.yaml"     // every setting as it was used
	FactsFile        = "run.json"        // the input: [Facts]
	ResultFile       = "result.json"     // the result: [Result]
	WeightsFile      = "weights.csv"     // the samples' final weights, if they are weighed
	SamplesFile      = "samples.csv"     // losses and scores of the samples: package train/samples
	CorrectionsFile  = "corrections.csv" // corrected labels, in the order of the steps
	ScreenedFile     = "screened.csv"    // labels that were called wrong before the training
	RangeFile        = "lr_range.csv"    // range tests of learning rates before the training
)

// BackboneFile returns the file of the network that belongs to a head, by the file of the head.
func BackboneFile(headFile string) string {
	if headFile == LastHeadFile {
		return LastBackboneFile
	}
	return BestBackboneFile
}

// Files lists the names of the files that a run may write, except event files, whose names have a time in them.
func Files() []string {
	return []string{ConfigFile, FactsFile, ResultFile, BestHeadFile, LastHeadFile, BestBackboneFile, LastBackboneFile,
		WeightsFile, SamplesFile, CorrectionsFile, ScreenedFile, RangeFile,
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

// Prepare makes the folder and locks it for one training until the lock is closed. Unless the earlier run in it is to
// be resumed or overwritten, that run is an error; one without a checkpoint, which cannot be resumed, is removed.
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
	if err == nil && !worth(names) {
		if err = Clear(dir); err == nil {
			return held, nil
		}
	}
	if err = errors.Join(err, held.Close()); err != nil {
		return nil, err
	}
	return nil, hint.With(fmt.Errorf("train: %s: there is a run in this folder already (%s)", dir, names[0]),
		"continue it: --resume; delete it: --overwrite; or choose another --out")
}

// worth reports whether a run's files hold anything that a training took long for: a training that failed before its
// first checkpoint can be started again as it stands.
func worth(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.Contains([]string{train.CheckpointFile, ResultFile, BestHeadFile, LastHeadFile, BestBackboneFile,
			LastBackboneFile}, name)
	})
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
