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

	start, last time.Time
	width       int // of the line on the terminal
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
	text := fmt.Sprintf("%d/%d %s", done, total, p.unit)
	if rate := float64(done-earlier) / now.Sub(p.start).Seconds(); rate > 0 {
		left := time.Duration(float64(total-done) / rate * float64(time.Second)).Round(time.Second)
		text += fmt.Sprintf("  %.1f %s/s  %v left", rate, p.unit, left)
	}
	text += more
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
