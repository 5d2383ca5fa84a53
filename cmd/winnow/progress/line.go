// Package progress shows the progress of work on a terminal or as lines of text.
package progress

import (
	"fmt"
	"io"
	"strings"
	"time"

	"winnow/internal/printable"
)

// Line shows the progress of work, with its rate and the time left. On a terminal it overwrites one line; otherwise it
// prints a line every few seconds.
type Line struct {
	w        io.Writer
	now      func() time.Time
	terminal bool
	every    time.Duration
	unit     string // the unit of the counts, such as "images"

	stage string // name of the current stage, the start of the line

	start, last time.Time
	width       int // width of the line on the terminal
}

// Stage starts the next stage of work. unit is the unit of its counts.
func (p *Line) Stage(name, unit string) {
	p.End()
	p.stage, p.unit = name+"  ", unit
	p.Restart()
}

// New returns a line on w. If w is a printable.Writer, the line writes to the underlying writer without escaping,
// because it prints only numbers and its own words. unit is the unit of the counts, and now is the clock.
func New(w io.Writer, unit string, now func() time.Time) *Line {
	p := &Line{w: printable.Under(w), now: now, every: 5 * time.Second, unit: unit, start: now()}
	if printable.IsTerminal(w) {
		p.terminal, p.every = true, 100*time.Millisecond
	}
	p.last = p.start
	return p
}

// At shows that done of total units are finished; the first earlier of these were finished by an earlier run. more is
// appended to the line.
func (p *Line) At(done, total, earlier int, more string) {
	now := p.now()
	if now.Sub(p.last) < p.every {
		return
	}
	p.last = now
	text := fmt.Sprintf("%s%d/%d %s", p.stage, done, total, p.unit)
	if rate := float64(done-earlier) / now.Sub(p.start).Seconds(); rate > 0 {
		text += fmt.Sprintf("  %.1f %s/s", rate, p.unit)
		if done-earlier > 1 { // the time of the first unit includes all preparation
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

// Restart restarts the clock for the rate and the time left.
func (p *Line) Restart() {
	p.start = p.now()
	p.last = p.start
}

// Print clears the line and prints text that stays.
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
