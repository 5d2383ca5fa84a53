package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"winnow/features"
	"winnow/filters/selfpaced"
	"winnow/head"
	"winnow/internal/atomicfile"
	"winnow/internal/config"
	"winnow/train"
)

// weightsFile holds the samples' final weights, in the run's folder.
const weightsFile = "weights.csv"

// selfPacing gives a run its weights, if its configuration wants any. Every round looks at the stored features, or at
// those that the backbone gives today, in the centre view.
func selfPacing(cfg config.Run, data trainData, epoch int, h *head.Head, t *tuning) (*train.SelfPaced, error) {
	if !cfg.SelfPaced.On() {
		return nil, nil
	}
	set := labelledOnly(data.Train)
	weights, err := selfpaced.New(cfg.SelfPaced.Config, set)
	if err != nil {
		return nil, err
	}
	embedded := func(ctx context.Context) (features.Set, error) { return data.embedNow(ctx, h, t, set) }
	return &train.SelfPaced{Weights: weights, Every: cfg.SelfPaced.Every.In(epoch), Seed: cfg.Seed, Embed: embedded}, nil
}

// sampleWeight is a line of weights.csv.
type sampleWeight struct {
	path, label string
	weight      float64
}

// weightsHeader is its first line.
var weightsHeader = []string{"path", "label", "weight"}

// writeWeights writes the final weights of the labelled training images, in the manifest's order.
func writeWeights(dir string, data trainData, w *selfpaced.Weights) error {
	set := labelledOnly(data.Train)
	path := filepath.Join(dir, weightsFile)
	err := atomicfile.Write(path, func(to io.Writer) error {
		out := csv.NewWriter(to)
		out.Write(weightsHeader) // the error is kept by the writer
		for i, v := range w.All() {
			out.Write([]string{data.Paths[set.IDs[i]], data.Classes[set.Labels[i]], strconv.FormatFloat(v, 'g', -1, 64)})
		}
		out.Flush()
		return out.Error()
	})
	if err != nil {
		return fmt.Errorf("train: %s: %w", weightsFile, err)
	}
	return nil
}

// readWeights reads the weights of a run.
func readWeights(dir string) ([]sampleWeight, error) {
	path := filepath.Join(dir, weightsFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, withHint(fmt.Errorf("%s: holds no %s: the training is not finished", dir, weightsFile), "go on with it: winnow train --config %s --out %s --resume", filepath.Join(dir, configFile), dir)
	}
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	defer f.Close()
	list, err := parseWeights(f)
	if err != nil {
		return nil, fmt.Errorf("audit: %s: %w", path, err)
	}
	return list, nil
}

func parseWeights(from io.Reader) ([]sampleWeight, error) {
	in := csv.NewReader(from)
	in.FieldsPerRecord = len(weightsHeader)
	var list []sampleWeight
	for line := 1; ; line++ {
		record, err := in.Read()
		if errors.Is(err, io.EOF) && line > 1 {
			return list, nil
		} else if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("found an empty file, expected the columns %s", strings.Join(weightsHeader, ", "))
		}
		if err != nil {
			return nil, err
		}
		if line == 1 {
			for i, name := range weightsHeader {
				if record[i] != name {
					return nil, fmt.Errorf("column %d is %q, expected %q", i+1, record[i], name)
				}
			}
			continue
		}
		w, err := strconv.ParseFloat(record[2], 64)
		if err != nil || !(w >= 0 && w <= 1) {
			return nil, fmt.Errorf("entry %d: weight is %q, expected a number from 0 to 1", line-1, record[2])
		}
		list = append(list, sampleWeight{record[0], record[1], w})
	}
}

// describeRound is a round of weights for people.
func describeRound(w train.Weighing, samples int) string {
	return fmt.Sprintf("epoch %d (step %d): weights, round %d: λ %.4g, mean weight of a class %.3f ± %.3f; of %d samples %d at 0, %d at 1; objective %.5g → %.5g",
		w.Epoch, w.Step, w.Number, w.Lambda, w.Mean, w.Deviation, samples, w.Excluded, w.Full, w.Before, w.Objective)
}
