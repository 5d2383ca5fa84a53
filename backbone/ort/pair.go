package ort

import (
	"errors"
	"sync"
)

// pair is two sessions of one network on a GPU, the lanes of an extraction: the images of one are copied while the
// other computes. On an H200 ResNet-50 made vectors of 2,983 images/s with one session, and of 3,886 if none had to be
// copied.
//
// The second session is loaded in the background once the second lane has run several times. Until then, and if memory
// has no room for both, both lanes use the first in turn. A limit of the GPU's memory is for both together.
type pair struct {
	load func(memory int64) (runner, error) // memory is the session's limit; 0: the runtime's
	half int64                              // limit of one of two sessions; 0: no limit

	turn  sync.Mutex // guards first and whole, also while first runs
	first runner
	whole bool // first may take all memory that the runtime allows

	turn2   sync.Mutex // guards second, runs and alone, also while second runs
	second  runner
	runs    int  // of the second lane while it has no session
	alone   bool // there is no second session, and there will be none
	loading sync.WaitGroup
}

// runner is a session.
type runner interface {
	Run(in, out []Tensor) error
	Close() error
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
	p.load = func(memory int64) (runner, error) {
		with := o
		with.memory = memory
		return rt.NewSession(model, with)
	}
	p.first, n.session, n.pair = n.session, nil, p
	second := *n
	second.lane, second.in, second.out = 1, make([]Tensor, 1), make([]Tensor, 1)
	return []*Network{n, &second}, nil
}

// runLane runs a lane. If memory runs out with two sessions, it goes on with one.
func (p *pair) runLane(lane int, in, out []Tensor) error {
	if lane == 1 {
		if done, err := p.runSecond(in, out); done {
			return err
		}
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	for {
		if p.first == nil {
			return errors.New("ort: run: the session is closed")
		}
		err := p.first.Run(in, out)
		if err == nil || !OutOfMemory(err) {
			return err
		}
		if more, failed := p.retreatLanes(); failed != nil || !more {
			return errors.Join(err, failed)
		}
	}
}

// runSecond runs the second session. done is false if there is none, or no memory for it: the first must run.
func (p *pair) runSecond(in, out []Tensor) (done bool, err error) {
	p.turn2.Lock()
	defer p.turn2.Unlock()
	if p.alone {
		return false, nil
	}
	if p.second == nil {
		if p.runs++; p.runs == worthTwo {
			p.loading.Go(p.loadSecond)
		}
		return false, nil
	}
	if err = p.second.Run(in, out); err == nil || !OutOfMemory(err) {
		return true, err
	}
	err = p.second.Close()
	p.second, p.alone = nil, true
	return err != nil, err
}

// loadSecond loads the second session. If it cannot, the first goes on alone.
func (p *pair) loadSecond() {
	s, err := p.load(p.half)
	if err != nil {
		return
	}
	p.turn2.Lock()
	defer p.turn2.Unlock()
	p.second = s
}

// retreatLanes frees memory for the first session: it ends the second, or gives the first all of the limit. It reports
// whether it could do one of the two. The caller holds turn.
func (p *pair) retreatLanes() (more bool, err error) {
	if more, err = p.endSecond(); p.whole || err != nil {
		return more, err
	}
	p.whole = true
	err = p.first.Close()
	p.first = nil
	if err == nil {
		p.first, err = p.load(0)
	}
	if err != nil {
		p.first = nil // not a nil session in an interface
	}
	return true, err
}

// endSecond closes the second session for good. It reports whether there could have been one until now.
func (p *pair) endSecond() (bool, error) {
	p.turn2.Lock()
	ended := !p.alone
	p.alone = true
	p.turn2.Unlock()
	p.loading.Wait()
	p.turn2.Lock()
	defer p.turn2.Unlock()
	s := p.second
	if p.second = nil; s == nil {
		return ended, nil
	}
	return ended, s.Close()
}

// closeLanes frees both sessions. Closing twice is not an error.
func (p *pair) closeLanes() error {
	_, err := p.endSecond()
	p.turn.Lock()
	defer p.turn.Unlock()
	if p.first != nil {
		err = errors.Join(err, p.first.Close())
		p.first = nil
	}
	return err
}
