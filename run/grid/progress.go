package grid

import "sync"

// progress shows the progress of cells, several of which run at once.
type progress[C comparable] struct {
	sync.Mutex
	cells  int
	shares map[C]float64 // done of each cell that has started
	at     func(done, total int)
	end    func()
}

// beginLine begins the line of some cells; watch may be nil.
func (p *progress[C]) beginLine(cells int, watch func(what string) (at func(done, total int), end func())) {
	p.Lock()
	defer p.Unlock()
	if watch != nil {
		p.cells, p.shares = cells, map[C]float64{}
		p.at, p.end = watch("percent")
	}
}

// showShare records how much of a cell is done, as a share of 1, and shows the progress of all cells.
func (p *progress[C]) showShare(cell C, share float64) {
	p.Lock()
	defer p.Unlock()
	if p.at == nil {
		return
	}
	p.shares[cell] = share
	sum := 0.0
	for _, s := range p.shares {
		sum += s
	}
	p.at(int(100*sum/float64(p.cells)), 100)
}

// interruptLine ends the line while write prints something.
func (p *progress[C]) interruptLine(write func()) {
	p.Lock()
	defer p.Unlock()
	if p.end != nil {
		p.end()
	}
	write()
}

// finishLine ends the line for good.
func (p *progress[C]) finishLine() {
	p.interruptLine(func() {})
	p.Lock()
	defer p.Unlock()
	p.at, p.end = nil, nil
}
