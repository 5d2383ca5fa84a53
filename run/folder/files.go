// Package folder reads and writes the folder of a run. It defines the names and contents of the files, protects the
// files of an earlier run, and opens a finished run.
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
	"winnow/run/extraction"
	"winnow/train"
)

// Files of a run's folder, in addition to those of package train.
const (
	BestHeadFile     = extraction.HeadFile // the best head by validation, or the last
	LastHeadFile     = "last.winnow"
	BestBackboneFile = extraction.NetworkFile // the fine-tuned network of the best head
	LastBackboneFile = "last.onnx"
	ConfigFile       = "config.yaml"        // all settings
	FactsFile        = extraction.FactsFile // the input: [Facts]
	ResultFile       = "result.json"        // the result: [Result]
	WeightsFile      = "weights.csv"        // final self-paced weights of the samples
	ScreenedFile     = "screened.csv"       // labels that were flagged before the training
	DecisionsFile    = "decisions.json"     // decisions of people about labels
	RangeFile        = "lr_range.csv"       // range tests of learning rates before the training
)

// BackboneFile returns the file of the network that belongs to the head in headFile.
func BackboneFile(headFile string) string {
	if headFile == LastHeadFile {
		return LastBackboneFile
	}
	return BestBackboneFile
}

// Files returns the names of the files that a run may write, except event files, whose names contain a time.
func Files() []string {
	return []string{ConfigFile, FactsFile, ResultFile, BestHeadFile, LastHeadFile, BestBackboneFile, LastBackboneFile,
		WeightsFile, ScreenedFile, DecisionsFile,
		RangeFile,
		train.MetricsFile, train.DiagnosticsFile, train.CheckpointFile}
}

// filesIn returns the files in a folder that belong to a run.
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

// Prepare makes the folder and locks it for one training until the lock is closed. It returns an error if the folder
// holds a finished run, unless resume or overwrite is set. stops reports whether the folder holds a stopped run. Only
// the same training may continue there; the caller checks this when all choices are made.
func Prepare(dir string, resume, overwrite bool) (held io.Closer, stops bool, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, false, fmt.Errorf("train: %w", err)
	}
	if held, err = lock.Folder(dir); err != nil {
		return nil, false, hint.With(fmt.Errorf("train: %w", err), "wait for it, stop it, or choose another --out")
	}
	names, err := filesIn(dir)
	switch {
	case err != nil || len(names) == 0 || resume || overwrite:
	case !isWorthKeeping(names):
		err = Clear(dir)
	case !slices.Contains(names, ResultFile):
		stops = true
	default:
		err = Taken(dir)
	}
	if err != nil {
		return nil, false, errors.Join(err, held.Close())
	}
	return held, stops, nil
}

// Taken returns the error for a folder that holds a finished run or a run with other settings.
func Taken(dir string) error {
	file := ResultFile
	if names, err := filesIn(dir); err == nil && len(names) > 0 {
		file = names[0]
	}
	return hint.With(fmt.Errorf("train: %s: there is a run in this folder already (%s)", dir, file),
		"continue it: winnow train --resume %s; delete it: --overwrite; or choose another --out", dir)
}

// Sum returns the checksum of settings and data in a run's config.yaml, "" if the file cannot be read.
func Sum(dir string) string {
	r := &Run{Dir: dir}
	if err := r.readConfig(); err != nil {
		return ""
	}
	return r.sum
}

// isWorthKeeping reports whether a run's files include a head or a checkpoint. A training that failed before its first
// checkpoint can be overwritten without loss.
func isWorthKeeping(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.Contains([]string{train.CheckpointFile, ResultFile, BestHeadFile, LastHeadFile, BestBackboneFile,
			LastBackboneFile}, name)
	})
}

// Clear removes the files of a run from its folder, and no other files.
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
