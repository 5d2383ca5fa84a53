package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// part is a group of measurements.
type part struct {
	name, title, about string
	share              float64 // of the total time
	most               time.Duration
	columns            []column
	run                func(*bench) error
}

// column is a column of a part's table.
type column struct{ value, heading, format string }

// parts returns all parts, the most important first. Shares are minutes out of nearly 9. A measurement that takes
// longer than the part's most (0: no limit) ends its process, and the next process continues with the next measurement.
func parts() []part {
	return []part{
		{"machine", "The machine", "Reports of the runtime, the driver and the tools.", .2, 0, nil, machine},
		{"parity", "The same numbers as on the CPU", "Features and gradients of the same random images on " +
			"the device and the CPU. relative: length of the difference divided by the length on the CPU. Gradients: " +
			"for each way to train, the trainable weight whose gradient differs most, without weights with tiny " +
			"gradients. moved: changes by three steps of Adam, all weights as one vector. Features must agree only " +
			"in float32.", 2, time.Minute,
			[]column{{"cosine", "least cosine", "%.7f"}, {"relative", "most relative", "%.1e"},
				{"beside_operators", "relative, beside operators on the device", "%.1e"},
				{"moved", "steps, relative", "%.1e"},
				{"cpu_relative", "the CPU's, relative", "%.1e"}}, parity},
		{"training", "A fine-tuning step", "From images to gradients of all weights and to new weights, with Adam. " +
			"Weights, gradients and the solver's state stay on the device. Gradients of convolutions are computed by " +
			"cuDNN's functions (cuDNN) or by ONNX operators (operators). " +
			"PyTorch: eager, the same layers (BatchNorm folded, no classifier), Adam, images on the device; " +
			"copied: images from pinned memory at every step; benchmark: with torch.backends.cudnn.benchmark. " +
			"processor: CPU time of all threads, which may include waiting for the device.", 5, 75 * time.Second,
			[]column{{"batch", "batch", "%.0f"}, {"images_per_second", "images/s", "%.0f"},
				{"step_ms", "step, ms", "%.1f"}, {"forward_ms", "forward, ms", "%.1f"},
				{"backward_ms", "backward, ms", "%.1f"}, {"solver_ms", "solver, ms", "%.1f"},
				{"processor_ms", "processor, ms", "%.1f"}, {"opening_s", "opening, s", "%.1f"},
				{"copied_images_per_second", "copied, images/s", "%.0f"},
				{"benchmark_images_per_second", "benchmark, images/s", "%.0f"}}, training},
		{"extraction", "Images per second", "Every run copies ready tensors to the device and vectors back: from " +
			"pinned memory in two lanes, as winnow extract does, and from pageable memory in one lane.", .8,
			75 * time.Second,
			[]column{{"batch", "batch", "%.0f"}, {"images_per_second", "images/s", "%.0f"},
				{"milliseconds", "ms a batch", "%.2f"}}, extraction},
		{"torch", "Extraction compared with PyTorch", "ResNet-50 in PyTorch, eager, with the same precision: " +
			"torch.backends.*.allow_tf32 is off as in winnow, and channels last is not used.", .2, 75 * time.Second,
			[]column{{"batch", "batch", "%.0f"}, {"images_per_second", "images/s", "%.0f"}}, torch},
		{"messages", "Messages when a GPU cannot be used", "Each line shows a process in an environment that " +
			"lacks something: its message, and the device on which --device auto computes.", .2, 0, nil, messages},
		{"memory", "Limits of memory", "The largest batch (doubled from 1) that runs under --gpu-memory, what " +
			"--batch auto would take, the message when memory is full, and whether the same process " +
			"computes on after it.", .2, 0,
			[]column{{"largest", "largest batch", "%.0f"}, {"auto", "batch auto", "%.0f"},
				{"used_mib", "GPU's memory in use, MiB", "%.0f"}}, memory},
		{"search", "Exact search and evaluation", "Every row of a set is a query for all others. The products and " +
			"the nearest of each row are computed on the device, where the set stays.", .2, 0,
			[]column{{"seconds", "seconds", "%.3f"},
				{"same", "same neighbours", "%.5f"}, {"off", "similarity off by", "%.1e"}, {"p1", "P@1", "%.4f"},
				{"mapr", "MAP@R", "%.4f"}}, nearest},
	}
}

func partNames() (names []string) {
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return names
}

func partBy(name string) *part {
	list := parts()
	if i := slices.IndexFunc(list, func(p part) bool { return p.name == name }); i >= 0 {
		return &list[i]
	}
	return nil
}

// runAll runs every unfinished part in a separate process, for the part's share of the time, and writes the results
// after each part.
func runAll(ctx context.Context, o options, args []string, stdout io.Writer) error {
	r, err := begin(o)
	if err != nil {
		return err
	}
	left, budget := 0.0, time.Duration(o.minutes*float64(time.Minute))
	end := time.Now().Add(budget)
	wanted := func(name string) bool { return o.only == "" || slices.Contains(strings.Split(o.only, ","), name) }
	for i, p := range parts() {
		if r.Parts[i].State != stateDone && wanted(p.name) {
			left += p.share
		}
	}
	for i, p := range parts() {
		if r.Parts[i].State == stateDone || !wanted(p.name) {
			continue
		}
		until := time.Now().Add(time.Duration(float64(time.Until(end)) * p.share / left))
		left -= p.share
		began := time.Now()
		said := r.tryPart(ctx, o, args, i, until)
		r.Parts[i].Seconds += time.Since(began).Seconds()
		r.Minutes += time.Since(began).Minutes()
		if err := errors.Join(writePart(o.out, r.Parts[i]), r.write(o.out)); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%-11s %-8s %6.1f s  %d records%s\n", p.name, r.Parts[i].State,
			time.Since(began).Seconds(), len(r.Parts[i].Records), said)
		for _, line := range r.digest(p) {
			fmt.Fprintln(stdout, "  "+line)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for _, g := range r.Goals {
		fmt.Fprintf(stdout, "%-8s %s: %s\n", g.State, g.Name, g.Found)
	}
	fmt.Fprintln(stdout, filepath.Join(o.out, "gpu.json"))
	return r.write(o.out)
}

// begin reads earlier results. Results of a different device are an error.
func begin(o options) (*Results, error) {
	r := &Results{Began: time.Now().UTC().Format(time.RFC3339), Device: o.device, Small: o.small}
	if err := r.readHead(o.out); err != nil {
		return nil, err
	}
	if r.Device != o.device || r.Small != o.small {
		return nil, fmt.Errorf("gpu: %s holds results of -device %s -small=%v, expected %s and %v: name another "+
			"folder with -out", o.out, r.Device, r.Small, o.device, o.small)
	}
	r.Parts = nil
	for _, p := range parts() {
		found, err := readPart(o.out, p.name)
		if err != nil {
			return nil, err
		}
		r.Parts = append(r.Parts, found)
	}
	return r, nil
}

// tries is the number of times a part whose process died is started again. Each time the part skips the measurement in
// which its process died.
const tries = 12

// patience is the time between the end of a part's time and its kill. A part normally ends itself between measurements.
const patience = 20 * time.Second

// tryPart runs the process of a part until it ends or its time is over, and returns the end of its output.
func (r *Results) tryPart(ctx context.Context, o options, args []string, i int, until time.Time) (said string) {
	name := r.Parts[i].Name
	for range tries {
		state, seconds := r.Parts[i].State, r.Parts[i].Seconds
		r.Parts[i].State, r.Parts[i].Error = statePartly, "" // until the process reports otherwise
		if err := writePart(o.out, r.Parts[i]); err != nil {
			r.Parts[i].State, r.Parts[i].Error = state, err.Error()
			return ": " + err.Error()
		}
		tail, err := child(ctx, append(slices.Clone(args), "-part", name, "-until",
			strconv.FormatInt(until.UnixMilli(), 10)), until.Add(patience))
		found, readErr := readPart(o.out, name)
		if readErr == nil {
			r.Parts[i] = found
			r.Parts[i].Seconds = seconds
		}
		code := new(exec.ExitError)
		switch {
		case err == nil:
			return ""
		case readErr != nil:
			err = readErr
		case errors.As(err, &code) && code.ExitCode() == exitTime:
			return ": the time was over; call again for the rest"
		case errors.Is(err, context.DeadlineExceeded): // a slow machine, or a long measurement
			return fmt.Sprintf(": the time was over, and it was killed %v later during a measurement; call again for "+
				"the rest", patience)
		case found.State == stateFailed: // reported by the process
			return ": " + found.Error
		}
		r.Parts[i].State, r.Parts[i].Error = stateFailed, oneLine(fmt.Sprintf("%v: %s", err, tail))
		said = ": " + r.Parts[i].Error
		if ctx.Err() != nil || len(found.Trying) == 0 || !time.Now().Before(until) {
			return said
		}
	}
	return said
}

// child runs this program again and returns the end of its output.
func child(ctx context.Context, args []string, kill time.Time) (tail string, err error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	ctx, stop := context.WithDeadline(ctx, kill)
	defer stop()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Env = append(os.Environ(), childMark+"=1")
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	text := strings.TrimSpace(out.String())
	return text[max(0, len(text)-600):], err
}

// childMark is the environment variable that makes the test binary run as this program.
const childMark = "WINNOW_GPU_EXPERIMENT"
