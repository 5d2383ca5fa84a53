package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/internal/text"
)

// As in package extraction, --batch auto uses 1/gpuShare of --gpu-memory and at most a batch of gpuMost.
const (
	gpuShare = 4
	gpuMost  = 256
)

// memory finds the largest batch under several memory limits, and checks that the process can still compute after a
// batch did not fit.
func memory(b *bench) error {
	if err := b.open(); err != nil {
		return err
	}
	n := b.resNet()
	limits := []int64{512 << 20, 1 << 30, 2 << 30, 4 << 30, 8 << 30, 0}
	if !b.dev.Device().CUDA { // the limits are for a GPU; on the CPU one size shows that the loop works
		limits = limits[len(limits)-1:]
	}
	for _, limit := range limits {
		name := "no limit"
		if limit > 0 {
			name = text.Approx(limit)
		}
		if err := b.measure(func() (Record, error) { return b.fill(n, limit) }, n.name, name); err != nil {
			return err
		}
	}
	return nil
}

// fill doubles the batch until it does not fit.
func (b *bench) fill(n *network, limit int64) (r Record, err error) {
	rt, err := b.device(ort.GPU{Memory: limit})
	if err != nil {
		return r, err
	}
	s, err := rt.NewSession(n.model.Marshal(), ort.SessionOptions{Outputs: []string{n.output}})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	run := func(batch int) error {
		x := ort.Float32s(b.pictures(n, batch), int64(batch), int64(n.channels), int64(n.side), int64(n.side))
		return s.Run([]ort.Tensor{x}, []ort.Tensor{ort.Float32s(make([]float32, batch*n.dim),
			n.shape(s.Outputs()[0], batch)...)})
	}
	r.Values = map[string]float64{}
	var full error
	for batch := 1; batch <= b.largest; batch *= 2 {
		if full = run(batch); full != nil {
			break
		}
		r.Values["largest"] = float64(batch)
	}
	if used, ok := b.used(); ok {
		r.Values["used_mib"] = used
	}
	if limit > 0 {
		one, err := graph.Footprint(n.model, n.input, n.channels, n.side, n.side)
		if err != nil {
			return r, err
		}
		one += 4 * int64(n.channels*n.side*n.side)
		r.Values["auto"] = float64(min(max(1, limit/gpuShare/one), gpuMost))
	}
	r.Text = "all fitted"
	if full != nil {
		r.Text = fmt.Sprintf("%v → %s", full, ort.GPUHint(full, "an unknown error"))
		r.Values["told"] = 0
		if ort.OutOfMemory(full) {
			r.Values["told"] = 1
		}
		again := run(1)
		r.Values["on"] = 1
		if again != nil {
			r.Values["on"], r.Text = 0, r.Text+"; then a batch of 1: "+again.Error()
		}
		r.Text = oneLine(r.Text)
	}
	return r, nil
}

// used returns the GPU memory in use by all programs.
func (b *bench) used() (mib float64, ok bool) {
	if !b.dev.Device().CUDA {
		return 0, false
	}
	out, err := exec.CommandContext(b.ctx, "nvidia-smi", "-i", strconv.Itoa(b.dev.Device().Index),
		"--query-gpu=memory.used", "--format=csv,noheader,nounits").Output()
	if err != nil {
		return 0, false
	}
	mib, err = strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	return mib, err == nil
}
