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
	"winnow/run/extraction"
	"winnow/train"
)

// Files of a run's folder, besides those of package train.
const (
	BestHeadFile     = extraction.HeadFile // by validation, or the last
	LastHeadFile     = "last.winnow"
	BestBackboneFile = extraction.NetworkFile // the fine-tuned network that the head belongs to
	LastBackboneFile = "last.onnx"
	ConfigFile       = "config.yaml"        // every setting as it was used
	FactsFile        = extraction.FactsFile // the input: [Facts]
	ResultFile       = "result.json"        // the result: [Result]
	WeightsFile      = "weights.csv"        // the samples' final weights, if they are weighed
	ScreenedFile     = "screened.csv"       // labels that were flagged before the training
	DecisionsFile    = "decisions.json"     // what people decided about labels before the training
	RangeFile        = "lr_range.csv"       // range tests of learning rates before the training
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
		WeightsFile, ScreenedFile, DecisionsFile,
		RangeFile,
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

// Prepare makes the folder and locks it for one training until the lock is closed. A finished run in it is an error,
// unless it is to be resumed or overwritten. If one stopped there, stops is true: only the same training may go on
// there, which the caller checks once all is chosen.
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

// Taken is the error of a folder with a run of other settings, or a finished one.
func Taken(dir string) error {
	file := ResultFile
	if names, err := filesIn(dir); err == nil && len(names) > 0 {
		file = names[0]
	}
	return hint.With(fmt.Errorf("train: %s: there is a run in this folder already (%s)", dir, file),
		"continue it: --resume; delete it: --overwrite; or choose another --out")
}

// Sum returns the sum of settings and data in a run's config.yaml, "" if it cannot be read.
func Sum(dir string) string {
	r := &Run{Dir: dir}
	if err := r.readConfig(); err != nil {
		return ""
	}
	return r.sum
}

// isWorthKeeping reports whether a run's files hold anything that a training took long for: a training that failed
// before its first checkpoint can be started again as it stands.
func isWorthKeeping(names []string) bool {
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
