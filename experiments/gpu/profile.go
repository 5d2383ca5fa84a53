package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/backbone/ort"
	"winnow/features"
)

// profiled is how many steps are profiled, and how many operators are named.
const (
	profiledSteps = 4
	namedOps      = 9
)

// profile says which operators the time of a step goes to. Each waits for the device before the next begins.
func profile(b *bench) error {
	if err := os.Setenv("CUDA_LAUNCH_BLOCKING", "1"); err != nil { // before CUDA starts
		return err
	}
	if err := b.open(); err != nil {
		return err
	}
	list, err := b.networks()
	if err != nil {
		return err
	}
	precisions := []bool{false}
	if b.dev.Device().CUDA {
		precisions = append(precisions, true)
	}
	for _, n := range list {
		for _, tf32 := range precisions {
			if n.rank() == len(torchNames) {
				continue
			}
			c := cell{n, b.steps[0], tf32}
			err := b.measure(func() (Record, error) { return b.profileCell(c) }, c.of("profile")...)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// profileCell profiles a cell in the product's way.
func (b *bench) profileCell(c cell) (r Record, err error) {
	dir, err := os.MkdirTemp("", "winnow-profile")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	rt, err := b.device(ort.GPU{TF32: c.tf32})
	if err != nil {
		return r, err
	}
	t, err := newTrained(rt, c.n, c.batch, filepath.Join(dir, "p"))
	if err != nil {
		return r, err
	}
	x, d, pixels := features.NewMatrix(c.batch, c.n.dim), slope(c.batch, c.n.dim), b.pictures(c.n, c.batch)
	for range profiledSteps {
		if _, err = t.step(x, pixels, d, 1e-9); err != nil {
			break
		}
	}
	if err = errors.Join(err, t.Close()); err != nil {
		return r, err
	}
	for _, pass := range []string{"forward", "backward"} {
		files, err := filepath.Glob(filepath.Join(dir, "p."+pass+"*.json"))
		if err != nil || len(files) != 1 {
			return r, errors.Join(err, fmt.Errorf("found %d profiles of the %s pass, expected one", len(files), pass))
		}
		text, err := readProfile(files[0])
		if err != nil {
			return r, err
		}
		r.Text += pass + ": " + text + "; "
	}
	r.Text = strings.TrimSuffix(r.Text, "; ") + "\n" + strings.Join(t.chosen, "\n")
	return r, nil
}

// spentOn is the time of an operator in a step, and how often it runs.
type spentOn struct {
	op   string
	ms   float64
	runs int
}

// readProfile sums up ONNX Runtime's file of events. The first step, which loads, does not count.
func readProfile(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var events []struct {
		Cat, Name string
		Dur       float64 // µs
		Args      struct {
			Op string `json:"op_name"`
		}
	}
	if err := json.Unmarshal(data, &events); err != nil {
		return "", err
	}
	by, steps, total := map[string]*spentOn{}, 0, 0.
	for _, e := range events {
		switch {
		case e.Cat == "Session" && e.Name == "model_run":
			steps++
		case e.Cat == "Node" && strings.HasSuffix(e.Name, "_kernel_time") && steps > 0:
			if by[e.Args.Op] == nil {
				by[e.Args.Op] = &spentOn{op: e.Args.Op}
			}
			by[e.Args.Op].ms += e.Dur / 1e3
			by[e.Args.Op].runs++
			total += e.Dur / 1e3
		}
	}
	counted := float64(max(1, steps-1)) // an event of a run comes before the run's own
	var list []*spentOn
	for _, s := range by {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *spentOn) int { return cmp.Compare(b.ms, a.ms) })
	parts := []string{fmt.Sprintf("%.1f ms", total/counted)}
	for _, s := range list[:min(len(list), namedOps)] {
		parts = append(parts, fmt.Sprintf("%s %.2f (%.0f)", s.op, s.ms/counted, float64(s.runs)/counted))
	}
	return strings.Join(parts, ", "), nil
}
