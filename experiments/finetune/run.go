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
	"slices"
	"strconv"
	"strings"
	"time"

	"winnow/experiments/bench"
)

// runNoise runs every mode on one manifest.
func (b *trial) runNoise(ctx context.Context, name string, s set, n noise, seed int) error {
	folder := filepath.Join(b.work, name, fmt.Sprintf("seed%d", seed))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	model, err := b.model(ctx, name, s, seed)
	if err != nil {
		return err
	}
	manifest := filepath.Join(b.data, n.manifest)
	if n.corrupt > 0 {
		to := filepath.Join(folder, strings.ReplaceAll(n.name, " ", "")+".csv")
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if _, err := b.Call(ctx, "data", "corrupt", "--rate", fmt.Sprint(n.corrupt), "--seed", strconv.Itoa(seed), "--out", to, manifest); err != nil {
			return err
		}
		manifest = to
	}
	store := filepath.Join(b.work, name, "features")
	if s.arch != "" {
		store += strconv.Itoa(seed)
	}
	data := []string{"--manifest", manifest, "--root", filepath.Join(b.data, s.root)}
	if _, err := os.Stat(store); err != nil {
		extract := append([]string{"extract", "--model", model, "--out", store}, data...)
		if s.size > 0 {
			extract = append(extract, "--resize", strconv.Itoa(s.size), "--crop", strconv.Itoa(s.size))
		}
		if _, err := b.Call(ctx, extract...); err != nil {
			return err
		}
	}
	for _, m := range s.modes {
		for _, filter := range []string{"none", "vmf"} {
			r := row{Set: name, Noise: n.name, Seed: seed, Mode: m.name, Filter: filter}
			if b.has(r) || b.only != "" && !strings.Contains(r.key(), b.only) {
				continue
			}
			run := filepath.Join(folder, strings.NewReplacer(" ", "", "%", "").Replace(strings.Join([]string{n.name, m.name, filter}, "-")))
			args := append([]string{"train", "--features", store, "--filter", filter, "--noise-rate", n.rate, "--set", "filter.warm_up=40 steps",
				"--seed", strconv.Itoa(seed), "--out", run, "--overwrite", "--json"}, data...)
			args = append(append(args, s.common...), m.flags...)
			if slices.Contains(m.flags, "--finetune") {
				args = append(args, "--model", model)
			}
			if err := b.one(ctx, r, run, data, args); err != nil {
				return err
			}
		}
	}
	return nil
}

// one trains once, measures the last state on the test split and writes the row.
func (b *trial) one(ctx context.Context, r row, run string, data, args []string) error {
	start := time.Now()
	if _, err := b.Call(ctx, args...); err != nil {
		return err
	}
	r.Seconds = time.Since(start).Seconds()
	result, err := b.Eval(ctx, run, data...)
	if err != nil {
		return err
	}
	r.P1, r.MAP = result.P1, result.MAP
	r.FrozenP1, r.FrozenMAP, r.WhitenedP1, r.WhitenedMAP = result.Frozen.P1, result.Frozen.MAP, result.Whitened.P1, result.Whitened.MAP
	if r.Curve, err = curve(filepath.Join(run, "metrics.jsonl")); err != nil {
		return err
	}
	log.Printf("%s: P@1 %.4f (frozen %.4f, whitened %.4f) in %.0f s", r.key(), r.P1, r.FrozenP1, r.WhitenedP1, r.Seconds)
	b.rows = append(b.rows, r)
	if err := bench.AppendRow(filepath.Join(b.here, resultsFile), columns, r.record()); err != nil {
		return err
	}
	return os.RemoveAll(run) // large, and everything worth keeping is in the row
}

// model returns what --model is given: a file, or a network made from its description for this seed.
func (b *trial) model(ctx context.Context, name string, s set, seed int) (string, error) {
	if s.arch == "" {
		if path := filepath.Join(b.models, s.model); strings.HasSuffix(s.model, ".onnx") {
			return path, nil
		}
		return s.model, nil
	}
	model := fmt.Sprintf("%s-%s-%d", name, s.arch, seed)
	if _, err := b.Call(ctx, "models", "show", model); err == nil {
		return model, nil
	}
	_, err := b.Call(ctx, "models", "new", model, "--arch", s.arch, "--seed", strconv.Itoa(seed))
	return model, err
}

// curve returns the validation score after each validation, from a run's metrics.
func curve(path string) ([]float64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var scores []float64
	for line := range strings.Lines(string(text)) {
		var m struct {
			Score *float64 `json:"validation"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if m.Score != nil {
			scores = append(scores, *m.Score)
		}
	}
	return scores, nil
}
