package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/backbone/ort"
	"winnow/features"
)

// profiledSteps is how many steps are profiled. Of operators, and of operators with the shapes of their inputs, the
// costliest are named.
const (
	profiledSteps = 4
	namedOps      = 12
	namedShapes   = 32
)

// profile says which operators the time of a step goes to, and at which shapes. Each waits for the device before the
// next begins.
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
	var shapes []string
	for _, pass := range []string{"forward", "backward"} {
		files, err := filepath.Glob(filepath.Join(dir, "p."+pass+"*.json"))
		if err != nil || len(files) != 1 {
			return r, errors.Join(err, fmt.Errorf("found %d profiles of the %s pass, expected one", len(files), pass))
		}
		by, at, err := readProfile(files[0])
		if err != nil {
			return r, err
		}
		r.Text += pass + ": " + by.text(namedOps) + "; "
		shapes = append(shapes, pass+", by shapes: "+at.text(namedShapes))
	}
	r.Text = strings.Join(slices.Concat([]string{strings.TrimSuffix(r.Text, "; ")}, shapes, t.chosen), "\n")
	return r, nil
}

// spentOn is the time of an operator, and how often it ran.
type spentOn struct {
	op   string
	ms   float64
	runs int
}

// spending is the time of a few steps by operator.
type spending struct {
	on    map[string]*spentOn
	total float64
	steps int
}

func (s *spending) add(op string, ms float64) {
	if s.on[op] == nil {
		s.on[op] = &spentOn{op: op}
	}
	s.on[op].ms += ms
	s.on[op].runs++
	s.total += ms
}

// text names the costliest operators of a step: milliseconds, and how often each runs.
func (s *spending) text(most int) string {
	steps := float64(max(1, s.steps))
	list := slices.SortedFunc(maps.Values(s.on), func(a, b *spentOn) int { return cmp.Compare(b.ms, a.ms) })
	parts := []string{fmt.Sprintf("%.1f ms", s.total/steps)}
	for _, on := range list[:min(len(list), most)] {
		parts = append(parts, fmt.Sprintf("%s %.2f (%.0f)", on.op, on.ms/steps, float64(on.runs)/steps))
	}
	return strings.Join(parts, ", ")
}

// readProfile sums up ONNX Runtime's file of events, by operator, and by operator and shapes. The first step, which
// loads, does not count.
func readProfile(file string) (by, at *spending, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	var events []struct {
		Cat, Name string
		Dur       float64 // µs
		Args      struct {
			Op     string             `json:"op_name"`
			Inputs []map[string][]int `json:"input_type_shape"`
		}
	}
	if err := json.Unmarshal(data, &events); err != nil {
		return nil, nil, err
	}
	by, at = &spending{on: map[string]*spentOn{}}, &spending{on: map[string]*spentOn{}}
	steps := 0
	for _, e := range events {
		switch {
		case e.Cat == "Session" && e.Name == "model_run":
			steps++
		case e.Cat == "Node" && strings.HasSuffix(e.Name, "_kernel_time") && steps > 0:
			shapes := ""
			for _, in := range e.Args.Inputs {
				for _, dims := range in {
					shapes += fmt.Sprint(dims)
				}
			}
			by.add(e.Args.Op, e.Dur/1e3)
			at.add(e.Args.Op+" "+shapes, e.Dur/1e3)
		}
	}
	by.steps, at.steps = steps-1, steps-1 // an event of a run comes before the run's own
	return by, at, nil
}
