package gradient_test

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// torch is a PyTorch process that holds one of the timed networks and makes a step for every line it receives.
type torch struct {
	in  io.WriteCloser
	out *bufio.Scanner
	cmd *exec.Cmd
}

func newTorch(b *testing.B, python, network string) *torch {
	c := exec.Command(python, "testdata/torch_step.py", network)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	t := &torch{in, bufio.NewScanner(out), c}
	b.Cleanup(func() { t.in.Close(); t.cmd.Wait() })
	return t
}

// step makes a step and returns its times in seconds and the growth of the process's memory since before the
// network, in bytes.
func (t *torch) step(b *testing.B) (forward, backward, peak float64) {
	fmt.Fprintln(t.in, "step")
	if !t.out.Scan() {
		b.Fatal("torch ended early")
	}
	if _, err := fmt.Sscan(t.out.Text(), &forward, &backward, &peak); err != nil {
		b.Fatalf("torch says %q: %v", t.out.Text(), err)
	}
	return forward, backward, peak
}

// BenchmarkBesideTorch makes training steps of winnow and of PyTorch alternately, two threads each, in separate
// processes. It reports the shortest time of each, their ratio, and the peak memory of each process beyond what
// it had before the network. WINNOW_TORCH names a Python that has torch; without it the benchmark is skipped.
func BenchmarkBesideTorch(b *testing.B) {
	python := os.Getenv("WINNOW_TORCH")
	if python == "" {
		b.Skip("WINNOW_TORCH names no Python with torch")
	}
	for _, n := range timedNetworks {
		if n.side != 224 || strings.Contains(n.name, " ") {
			continue
		}
		b.Run(n.name, func(b *testing.B) {
			t := newTorch(b, python, n.name)
			debug.FreeOSMemory()
			before, _ := resident(true)
			p := newPair(b, n, false)
			ours, theirs, peak, forward := math.Inf(1), math.Inf(1), 0.0, math.Inf(1)
			for b.Loop() {
				f, k, most := t.step(b)
				theirs, peak = min(theirs, f+k), most
				start := time.Now()
				f = timed(b, func() error { return p.live.Forward(p.features, p.pixels, p.batch, true) })
				if err := p.live.Backward(p.grad, false); err != nil {
					b.Fatal(err)
				}
				ours, forward = min(ours, time.Since(start).Seconds()), min(forward, f)
			}
			_, most := resident(false)
			b.ReportMetric(1e3*ours, "winnow-ms")
			b.ReportMetric(1e3*forward, "winnow-forward-ms")
			b.ReportMetric(1e3*theirs, "torch-ms")
			b.ReportMetric(ours/theirs, "time-ratio")
			b.ReportMetric(float64(most-before)/1e6, "winnow-MB")
			b.ReportMetric(peak/1e6, "torch-MB")
			b.ReportMetric(float64(most-before)/peak, "memory-ratio")
		})
	}
}
