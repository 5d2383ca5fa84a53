// Package progress shows the progress of work and of trainings, on a terminal or as lines.
package progress

import (
	"fmt"
	"io"
	"strings"
	"time"

	"winnow/internal/printable"
)

// Line shows the progress of a long piece of work, with its rate and the time left: on a terminal as one line
// that is overwritten, otherwise as a line every few seconds.
type Line struct {
	w        io.Writer
	now      func() time.Time
	terminal bool
	every    time.Duration
	unit     string // what is counted, such as "images"

	stage string // name of the current stage, with which the line begins

	start, last time.Time
	width       int // width of the line on the terminal
}

// Stage begins one of several stages of work. unit is what is counted.
func (p *Line) Stage(name, unit string) {
	p.End()
	p.stage, p.unit = name+"  ", unit
	p.Restart()
}

// New begins a line on w, past the guard of a printable.Writer, because it prints only numbers and its own
// words. unit is what is counted, now is the clock.
func New(w io.Writer, unit string, now func() time.Time) *Line {
	p := &Line{w: printable.Under(w), now: now, every: 5 * time.Second, unit: unit, start: now()}
	if printable.IsTerminal(w) {
		p.terminal, p.every = true, 100*time.Millisecond
	}
	p.last = p.start
	return p
}

// At shows that done of total are finished, of which earlier ones are from an earlier run. more is appended to
// the line.
func (p *Line) At(done, total, earlier int, more string) {
	now := p.now()
	if now.Sub(p.last) < p.every {
		return
	}
	p.last = now
	text := fmt.Sprintf("%s%d/%d %s", p.stage, done, total, p.unit)
	if rate := float64(done-earlier) / now.Sub(p.start).Seconds(); rate > 0 {
		text += fmt.Sprintf("  %.1f %s/s", rate, p.unit)
		if done-earlier > 1 { // the time of the first one includes all preparation
			left := now.Sub(p.start).Seconds() * float64(total-done) / float64(done-earlier)
			text += fmt.Sprintf("  %v left", (time.Duration(left) * time.Second).Round(time.Second))
		}
	}
	p.showLine(text + more)
}

// showLine prints a line; on a terminal it overwrites the previous one.
func (p *Line) showLine(text string) {
	if !p.terminal {
		fmt.Fprintln(p.w, text)
		return
	}
	fmt.Fprintf(p.w, "\r%s%s", text, strings.Repeat(" ", max(p.width-len(text), 0)))
	p.width = len(text)
}

// Restart begins to count the time anew.
func (p *Line) Restart() {
	p.start = p.now()
	p.last = p.start
}

// Print prints text that stays, and clears the line before it.
func (p *Line) Print(format string, args ...any) {
	p.End()
	fmt.Fprintf(p.w, format, args...)
}

// End clears the line on a terminal.
func (p *Line) End() {
	if p.width > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}
