// Package progress shows on a terminal, or in lines, how far some work is and how a training goes.
package progress

import (
	"fmt"
	"io"
	"strings"
	"time"

	"winnow/internal/printable"
)

// Line shows how far a long piece of work is, with its rate and the time left: on a terminal one
// line that is written over, otherwise a line every few seconds.
type Line struct {
	w        io.Writer
	now      func() time.Time
	terminal bool
	every    time.Duration
	unit     string // what is counted, as "images"

	stage        string        // of several, that the line begins with
	guess, after time.Duration // that it, and the stages behind it, may take

	start, last time.Time
	width       int // of the line on the terminal
}

// Stage begins a stage of work that has several: what is counted there, how long it may take, which counts until more is
// known, and how long those behind it may, which the time left holds too.
func (p *Line) Stage(name, unit string, guess, after time.Duration) {
	p.End()
	p.stage, p.unit, p.guess, p.after, p.start = name+"  ", unit, guess, after, p.now()
	p.last = p.start
	if guess >= time.Second {
		p.show(fmt.Sprintf("%sabout %v left", p.stage, (guess + after).Round(time.Second)))
	}
}

// left returns how long the rest takes, by the share that took the time since the start: a guess fades out over the
// first fifth.
func (p *Line) left(share float64, took time.Duration) time.Duration {
	known := 1.0
	if p.guess > 0 {
		known = min(1, 5*share)
	}
	rest := known*(1-share)/share*float64(took) + (1-known)*(1-share)*float64(p.guess)
	return (time.Duration(rest) + p.after).Round(time.Second)
}

// New begins a line on w, without the guard of a printable.Writer: it prints numbers and its own words only. unit is what is counted, now the clock.
func New(w io.Writer, unit string, now func() time.Time) *Line {
	p := &Line{w: printable.Under(w), now: now, every: 5 * time.Second, unit: unit, start: now()}
	if printable.IsTerminal(w) {
		p.terminal, p.every = true, 100*time.Millisecond
	}
	p.last = p.start
	return p
}

// At tells that done of total are there, the first of them from an earlier run; more is added to the line.
func (p *Line) At(done, total, earlier int, more string) {
	now := p.now()
	if now.Sub(p.last) < p.every {
		return
	}
	p.last = now
	text := fmt.Sprintf("%s%d/%d %s", p.stage, done, total, p.unit)
	if rate := float64(done-earlier) / now.Sub(p.start).Seconds(); rate > 0 {
		text += fmt.Sprintf("  %.1f %s/s", rate, p.unit)
		if done-earlier > 1 || p.guess > 0 { // the first one's time is also that of all that was made ready
			text += fmt.Sprintf("  %v left", p.left(float64(done-earlier)/float64(total-earlier), now.Sub(p.start)))
		}
	}
	p.show(text + more)
}

// show prints a line, on a terminal over the one before.
func (p *Line) show(text string) {
	if !p.terminal {
		fmt.Fprintln(p.w, text)
		return
	}
	fmt.Fprintf(p.w, "\r%s%s", text, strings.Repeat(" ", max(p.width-len(text), 0)))
	p.width = len(text)
}

// End clears the line on a terminal.
func (p *Line) End() {
	if p.width > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}
