package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"winnow/train"
)

// trainProgress shows how a run goes: on a terminal one line that is written over, otherwise a line every
// few seconds.
type trainProgress struct {
	w        io.Writer
	now      func() time.Time
	terminal bool
	every    time.Duration

	plan    trainPlan
	start   time.Time
	last    time.Time
	width   int     // of the line on the terminal
	loss    float64 // running mean, as a single step says little
	kept    float64
	started bool
}

func newTrainProgress(w io.Writer, now func() time.Time) *trainProgress {
	p := &trainProgress{w: w, now: now, every: 5 * time.Second}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.terminal, p.every = true, 100*time.Millisecond
	}
	return p
}

func (p *trainProgress) begun(plan trainPlan) {
	p.plan, p.start = plan, p.now()
	p.last = p.start
}

// memory is the weight of the past in the running means.
const memory = 0.95

func (p *trainProgress) stepped(s train.Step) {
	if !p.started {
		p.loss, p.kept, p.started = s.Loss, s.KeptShare(), true
	}
	p.loss = memory*p.loss + (1-memory)*s.Loss
	p.kept = memory*p.kept + (1-memory)*s.KeptShare()
	now := p.now()
	if now.Sub(p.last) < p.every {
		return
	}
	p.last = now
	done := s.Number - p.plan.Resumed
	rate := float64(done) / now.Sub(p.start).Seconds()
	left := time.Duration(float64(p.plan.Steps-s.Number) / rate * float64(time.Second)).Round(time.Second)
	text := fmt.Sprintf("epoch %d  step %d/%d  loss %.4f  kept %.0f %%  %.0f steps/s  %v left",
		s.Epoch, s.Number, p.plan.Steps, p.loss, 100*p.kept, rate, left)
	if !p.terminal {
		fmt.Fprintln(p.w, text)
		return
	}
	fmt.Fprintf(p.w, "\r%s%s", text, strings.Repeat(" ", max(p.width-len(text), 0)))
	p.width = len(text)
}

// line prints a line that stays.
func (p *trainProgress) line(format string, args ...any) {
	if p.width > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
	fmt.Fprintf(p.w, format+"\n", args...)
}

func (p *trainProgress) validated(v train.Validation) {
	best := ""
	if v.Best {
		best = "  best so far"
	}
	if v.Step == 0 {
		p.line("untrained head: validation P@1 %.4f", v.Score)
		return
	}
	p.line("epoch %d (step %d): validation P@1 %.4f%s", v.Epoch, v.Step, v.Score, best)
}
