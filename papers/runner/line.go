package runner

import (
	"sync"

	"winnow/papers/studies"
	"winnow/run"
	"winnow/train"
)

// line shows the progress of the cells, several of which run at once.
type line struct {
	sync.Mutex
	cells  int
	shares map[studies.Cell]float64 // done of each cell that has started
	show   func(done, total int)
	end    func()
}

func newLine(cells int, watch func(what string) (at func(done, total int), end func())) *line {
	l := &line{cells: cells, shares: map[studies.Cell]float64{}}
	l.show, l.end = watch("percent")
	return l
}

// at sets the share of a cell that is done.
func (l *line) at(cell studies.Cell, share float64) {
	l.Lock()
	defer l.Unlock()
	l.shares[cell] = share
	sum := 0.0
	for _, s := range l.shares {
		sum += s
	}
	l.show(int(100*sum/float64(l.cells)), 100)
}

// say ends the line while text prints something.
func (l *line) say(text func()) {
	l.Lock()
	defer l.Unlock()
	l.end()
	text()
}

func (l *line) finish() { l.say(func() {}) }

// watch shows the steps of a cell's training as 99 % of the cell: measuring follows.
func (r *reproduction) watch(cell studies.Cell, steps int) run.Observer {
	return run.Observer{Stepped: func(s train.Step) {
		r.line.at(cell, 0.99*float64(s.Number)/float64(max(steps, 1)))
	}}
}
