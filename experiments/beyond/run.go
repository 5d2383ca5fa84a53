package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"winnow/experiments/bench"
)

// cell is one thing to measure.
type cell struct {
	experiment, set string
	noise           noise
	seed            int
	variant         variant
}

func (c cell) key() string {
	return fmt.Sprintf("%s, %s, %s, seed %d, %s", c.experiment, c.set, c.noise.name, c.seed, c.variant.name)
}

// cell measures one cell unless that is done.
func (b *trial) cell(ctx context.Context, e experiment, c cell) error {
	for _, r := range b.rows {
		if r.key() == c.key() {
			return nil
		}
	}
	if b.only != "" && !strings.Contains(c.key(), b.only) {
		return nil
	}
	manifest, store, err := b.dataOf(ctx, c)
	if err != nil {
		return err
	}
	measure := b.train
	if e.common == nil {
		measure = b.rate
	}
	values, err := measure(ctx, e, c, manifest, store)
	if err != nil {
		return err
	}
	log.Printf("%s: %v", c.key(), values)
	for _, v := range values {
		r := row{c.experiment, c.set, c.noise.name, c.seed, c.variant.name, v.name, v.value}
		b.rows = append(b.rows, r)
		if err := bench.AppendRow(filepath.Join(b.here, resultsFile), columns, r.record()); err != nil {
			return err
		}
	}
	return nil
}

// dataOf returns the manifest with the cell's labels, and the features of its images.
func (b *trial) dataOf(ctx context.Context, c cell) (manifest, store string, err error) {
	folder := filepath.Join(b.work, c.set, "seed"+strconv.Itoa(c.seed))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", "", err
	}
	s := sets[c.set]
	manifest, store = filepath.Join(b.data, s.manifest), filepath.Join(b.features, s.store)
	if s.manifest == "" {
		drawn := filepath.Join(folder, "drawn")
		manifest, store = filepath.Join(drawn, "manifest.csv"), filepath.Join(folder, "features")
		if _, err := os.Stat(store); errors.Is(err, fs.ErrNotExist) {
			if _, err := b.Call(ctx, "data", "glyphs", "--out", drawn, "--seed", strconv.Itoa(c.seed)); err != nil {
				return "", "", err
			}
			if _, err := b.Call(ctx, "extract", "--manifest", manifest, "--model", "glyphnet", "--out", store); err != nil {
				return "", "", err
			}
		}
	}
	if c.noise.manifest != "" {
		return filepath.Join(b.data, c.noise.manifest), store, nil
	}
	if c.noise.rate == 0 {
		return manifest, store, nil
	}
	to := filepath.Join(folder, fmt.Sprintf("symmetric%g.csv", c.noise.rate))
	if _, err := os.Stat(to); err == nil {
		return to, store, nil
	}
	_, err = b.Call(ctx, "data", "corrupt", "--rate", fmt.Sprint(c.noise.rate), "--seed", strconv.Itoa(c.seed), "--out", to, manifest)
	return to, store, err
}

// value is one number.
type value struct {
	name  string
	value float64
}

// rate estimates the share of wrong labels by every method.
func (b *trial) rate(ctx context.Context, _ experiment, _ cell, manifest, store string) ([]value, error) {
	text, err := b.Call(ctx, "noise", manifest, "--features", store, "--method", "all", "--json")
	if err != nil {
		return nil, err
	}
	var r struct {
		Estimates []struct {
			Method          string
			Rate, Low, High float64
		}
		True *float64 `json:"true_rate"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("noise --json: %w", err)
	}
	if r.True == nil {
		return nil, fmt.Errorf("%s: does not know the true labels", manifest)
	}
	values := []value{{"true", *r.True}}
	for _, e := range r.Estimates {
		values = append(values, value{e.Method, e.Rate}, value{e.Method + " low", e.Low}, value{e.Method + " high", e.High})
	}
	return values, nil
}

// train trains once and measures the last state on the test split, and the labels that it corrected.
func (b *trial) train(ctx context.Context, e experiment, c cell, manifest, store string) ([]value, error) {
	run := filepath.Join(b.work, "run")
	args := []string{"train", "--manifest", manifest, "--features", store, "--seed", strconv.Itoa(c.seed), "--out", run, "--overwrite", "--json",
		"--noise-rate", fmt.Sprint(c.noise.rate)}
	if _, err := b.Call(ctx, append(append(args, e.common...), c.variant.flags...)...); err != nil {
		return nil, err
	}
	r, err := b.Eval(ctx, run)
	if err != nil {
		return nil, err
	}
	values := []value{{"p1", r.P1}, {"map_at_r", r.MAP}, {"whitened p1", r.Whitened.P1}}
	corrected, err := corrections(filepath.Join(run, "corrections.csv"), manifest)
	return append(values, corrected...), errors.Join(err, os.RemoveAll(run))
}

// corrections compares what a run corrected with the truth; nothing where it has no such file.
func corrections(path, manifest string) ([]value, error) {
	list, err := bench.ReadTable(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := bench.ReadTable(manifest)
	if err != nil {
		return nil, err
	}
	truth, wrong, images := map[string]string{}, 0, 0
	for _, r := range all {
		if r["split"] == "train" {
			truth[r["path"]] = r["true_label"]
			images++
			if r["label"] != r["true_label"] {
				wrong++
			}
		}
	}
	final := map[string]map[string]string{}
	for _, r := range list {
		final[r["path"]] = r // the last correction of an image counts
	}
	var right, spoiled int
	for path, r := range final {
		if r["corrected"] == truth[path] {
			right++
		}
		if r["given"] == truth[path] {
			spoiled++
		}
	}
	n := len(final)
	return []value{
		{"corrected share", float64(n) / float64(images)}, {"correction precision", float64(right) / float64(max(n, 1))},
		{"right labels spoiled", float64(spoiled) / float64(max(n, 1))}, {"wrong labels mended", float64(right) / float64(max(wrong, 1))},
	}, nil
}
