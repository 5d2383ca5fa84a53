package ort

import (
	"errors"
	"sync"
	"sync/atomic"
)

// pair is two sessions of one network on a GPU, the lanes of an extraction: the images of one are copied while the other computes. On an H200
// ResNet-50 made vectors of 2,983 images/s with one session, and of 3,919 if none had to be copied.
//
// The second session is loaded in the background once the second lane has run several times; until then, and if memory
// has no room for both, both lanes use the first in turn. A limit of the GPU's memory is for both together.
type pair struct {
	load  func(memory int64) (*Session, error) // memory 0: the runtime's limit
	half  int64                                // limit of one of two sessions; 0: no limit
	whole bool                                 // the first session may take all memory that the runtime allows
	first *Session
	turn  sync.Mutex // guards first, whole and the runs of first

	second  atomic.Pointer[Session]
	runs    int        // of the second lane
	turn2   sync.Mutex // guards runs, alone and the runs of second
	alone   bool       // there is no second session, and there will be none
	loading sync.WaitGroup
}

// worthTwo is after how many runs of the second lane its session is loaded: a short extraction ends before it is ready.
const worthTwo = 4

// newPair loads the first session of a network and returns its two lanes.
func newPair(rt *Runtime, model []byte, o SessionOptions, in NetworkInput) ([]*Network, error) {
	p := &pair{half: rt.gpu.Memory / 2}
	p.whole = p.half == 0
	o.memory = p.half
	n, err := newNetwork(rt, model, o, in)
	if err != nil && p.half > 0 && OutOfMemory(err) {
		p.whole, p.alone, o.memory = true, true, 0
		n, err = newNetwork(rt, model, o, in)
	}
	if err != nil {
		return nil, err
	}
	o.Outputs = []string{n.session.outs[0].Name}
	p.load = func(memory int64) (*Session, error) {
		with := o
		with.memory = memory
		return rt.NewSession(model, with)
	}
	p.first, n.session, n.pair = n.session, nil, p
	second := *n
	second.lane, second.in, second.out = 1, make([]Tensor, 1), make([]Tensor, 1)
	return []*Network{n, &second}, nil
}

// run runs a lane. If memory runs out with two sessions, it goes on with one.
func (p *pair) run(lane int, in, out []Tensor) error {
	if lane == 1 {
		if done, err := p.runSecond(in, out); done {
			return err
		}
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	if p.first == nil {
		return errors.New("ort: run: the session is closed")
	}
	err := p.first.Run(in, out)
	for err != nil && OutOfMemory(err) {
		more, failed := p.retreat()
		if failed != nil {
			return errors.Join(err, failed)
		}
		if !more {
			break
		}
		err = p.first.Run(in, out)
	}
	return err
}

// runSecond runs the second session. done is false if there is none: the first must run.
func (p *pair) runSecond(in, out []Tensor) (done bool, err error) {
	p.turn2.Lock()
	defer p.turn2.Unlock()
	if p.alone {
		return false, nil
	}
	s := p.second.Load()
	if s == nil {
		if p.runs++; p.runs == worthTwo {
			p.loading.Go(func() {
				if s, err := p.load(p.half); err == nil { // otherwise the first goes on alone
					p.second.Store(s)
				}
			})
		}
		return false, nil
	}
	if err = s.Run(in, out); err != nil && OutOfMemory(err) {
		p.alone = true
		p.second.Store(nil)
		return false, s.Close()
	}
	return true, err
}

// retreat frees memory for the first session: it ends the second, or gives the first all of the limit. It reports
// whether it could do either. The caller holds turn.
func (p *pair) retreat() (bool, error) {
	p.turn2.Lock()
	ended := !p.alone
	p.alone = true
	p.turn2.Unlock()
	var err error
	if ended {
		err = p.endSecond()
	}
	if p.whole || err != nil {
		return ended, err
	}
	p.whole = true
	if err = p.first.Close(); err == nil {
		p.first, err = p.load(0)
	}
	return true, err
}

// endSecond closes the second session. p.alone must be true.
func (p *pair) endSecond() error {
	p.loading.Wait()
	p.turn2.Lock()
	defer p.turn2.Unlock()
	if s := p.second.Swap(nil); s != nil {
		return s.Close()
	}
	return nil
}

// close frees both sessions. Closing twice is not an error.
func (p *pair) close() error {
	p.turn2.Lock()
	p.alone = true
	p.turn2.Unlock()
	err := p.endSecond()
	p.turn.Lock()
	defer p.turn.Unlock()
	if p.first != nil {
		err = errors.Join(err, p.first.Close())
		p.first = nil
	}
	return err
}
