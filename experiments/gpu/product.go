package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// product runs winnow as a user would: it imports photographs, extracts features on the CPU and on the device, and
// fine-tunes.
func product(b *bench) error {
	if b.winnow == "" {
		return b.note("not run: found no winnow beside this program, and -winnow names none", "winnow")
	}
	for _, path := range []string{b.winnow, b.images, b.models} {
		if _, err := os.Stat(path); err != nil || path == "" {
			return b.note(fmt.Sprintf("not run: %q: %v", path, err), "winnow")
		}
	}
	model := filepath.Join(b.models, "mobilenetv2-features.onnx")
	if b.small {
		model = filepath.Join(b.models, "squeezenet1.1.onnx")
	}
	work, err := os.MkdirTemp("", "winnow-gpu-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	in := func(name string) string { return filepath.Join(work, name) }
	b.library = b.options.library
	if err := b.measure(func() (Record, error) { return b.call("doctor") }, "doctor", "-"); err != nil {
		return err
	}
	// Every call needs the list and the registry.
	b.registry = in("models.json")
	for _, args := range [][]string{{"data", "import", b.images, "--split", "train=0.6,test=0.4", "--by", "image",
		"--out", in("list.csv")}, {"models", "add", model, "--preset", "imagenet", "--name", "tried"}} {
		if _, err := b.call(args...); err != nil {
			return err
		}
	}
	extract := func(device, out string, more ...string) func() (Record, error) {
		return func() (Record, error) {
			return b.call(append([]string{"--device", device, "extract", "--manifest", in("list.csv"), "--root",
				b.images, "--model", "tried", "--out", in(out), "--overwrite"}, more...)...)
		}
	}
	if err := b.measure(extract("cpu", "on-cpu"), "extract", "cpu"); err != nil {
		return err
	}
	if err := b.measure(func() (Record, error) {
		if _, err := os.Stat(in("on-cpu")); err != nil { // the store of an earlier call is gone
			if _, err := extract("cpu", "on-cpu")(); err != nil {
				return Record{}, err
			}
		}
		r, err := extract(b.options.device, "on-device", "--batch", "16")()
		if err != nil {
			return r, err
		}
		r.Values["cosine"], err = leastCosine(b.ctx, in("on-cpu"), in("on-device"))
		return r, err
	}, "extract", "device"); err != nil {
		return err
	}
	if err := b.measure(extract("auto", "on-auto"), "extract", "auto"); err != nil {
		return err
	}
	return b.measure(func() (Record, error) {
		return b.call("--device", b.options.device, "train", "--manifest", in("list.csv"), "--root", b.images,
			"--model", "tried",
			"--finetune", "all", "--steps", "3", "--batch", "2x4", "--out", in("run"))
	}, "train --finetune all, 3 steps", "device")
}

// call runs winnow and keeps the end of its output.
func (b *bench) call(args ...string) (Record, error) {
	ctx, stop := context.WithDeadline(b.ctx, b.end())
	defer stop()
	cmd := b.command(ctx, args)
	cmd.WaitDelay = time.Second
	began := time.Now()
	out, err := cmd.CombinedOutput()
	text := strings.TrimSpace(string(out))
	if ctx.Err() != nil {
		return Record{}, errTime
	}
	if err != nil {
		return Record{}, fmt.Errorf("winnow %s: %w: %s", strings.Join(args, " "), err, text[max(0, len(text)-500):])
	}
	return Record{Text: oneLine(text[max(0, len(text)-2500):]),
		Values: map[string]float64{"seconds": time.Since(began).Seconds()}}, nil
}

// leastCosine returns the smallest cosine between the rows of two stores of the same images.
func leastCosine(ctx context.Context, a, b string) (float64, error) {
	var x [2]blas32.General
	for i, dir := range []string{a, b} {
		s, err := features.Open(dir)
		if err != nil {
			return 0, err
		}
		x[i], err = s.Read(ctx, features.AllRows(s.Rows))
		if err != nil {
			return 0, err
		}
	}
	if x[0].Rows != x[1].Rows || x[0].Cols != x[1].Cols {
		return 0, fmt.Errorf("gpu: %d×%d vectors on the CPU, %d×%d on the device", x[0].Rows, x[0].Cols, x[1].Rows,
			x[1].Cols)
	}
	least := 1.0
	for i := range x[0].Rows {
		cos, _ := cosine(features.Row(x[0], i), features.Row(x[1], i))
		least = lesser(least, cos)
	}
	return least, nil
}
