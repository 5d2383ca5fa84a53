package train

import (
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// trainStep trains on the next batch in the order of PRISM's Algorithm 1 (METHODS 7.1): it embeds the batch, scores
// its labels against the bank, which does not contain the batch yet, evaluates the losses on the kept rows and steps
// the solvers. It pushes the kept rows, as embedded before the step, into the bank.
func (t *Trainer) trainStep() (*Step, error) {
	rows := t.nextBatch()
	t.Clock.step = t.progress.Step + 1
	f := &t.fact
	*f = Step{Epoch: t.epoch + 1, Number: t.progress.Step + 1, Terms: t.objective.values}
	f.LR = t.rateOf(HeadGroup)
	t.announceNext()
	z, err := t.Encoder.Forward(rows)
	if err != nil {
		return nil, fmt.Errorf("train: step %d (epoch %d): %w", f.Number, f.Epoch, err)
	}
	known := frontRows(z, t.Sampler.Labelled())
	f.IDs = known.IDs
	if bad := badRows(z.X, z.IDs); len(bad) > 0 {
		return nil, t.nonFinite("the embedding", math.NaN(), bad)
	}
	t.judgeBatch(known)
	seen := t.gatherKept(z, known.Len())
	kept := frontRows(seen, len(f.Kept))
	t.dKept = features.Resize(t.dKept, seen.Len(), z.Dim())
	var active bool
	f.Loss, active = t.objective.evalObjective(t.dKept, seen, kept.Len(), t.Bank, f.Number)
	f.PairLoss = t.objective.even
	if !isFiniteLoss(f.Loss) {
		return nil, t.nonFinite("loss", f.Loss, seen.IDs)
	}
	if bad := badRows(t.dKept, seen.IDs); len(bad) > 0 {
		return nil, t.nonFinite("the loss's gradient", math.NaN(), bad)
	}
	f.Skipped = !active
	if t.held && t.chooser == nil && !f.Skipped {
		err = t.descendNoting(z, seen, kept)
	} else {
		if !f.Skipped {
			err = t.descendGroups(z, seen)
		}
		if t.chooser != nil {
			f.Kept = t.chooser.Chosen()
		}
		if err == nil {
			t.noteRows(kept)
		}
	}
	if err != nil {
		return nil, err
	}
	t.progress.Step++
	if !active {
		t.progress.Idle++
	}
	return f, nil
}

// descendNoting runs noteRows concurrently with descendGroups. On a device descendGroups mostly waits, and it does not
// change the rows that noteRows reads.
func (t *Trainer) descendNoting(z, seen, kept features.Set) error {
	var noting sync.WaitGroup
	noting.Go(func() { t.noteRows(kept) })
	err := t.descendGroups(z, seen)
	noting.Wait()
	return err
}

// noteRows pushes the kept rows of a batch, as embedded before the step, into the memory bank.
func (t *Trainer) noteRows(kept features.Set) {
	f := &t.fact
	if t.Bank != nil {
		t.Bank.Push(kept)
		f.Bank = t.Bank.Len()
	}
}

// nextBatch returns the batch of the next step.
func (t *Trainer) nextBatch() []int {
	n := t.Sampler.Batches()
	e, b := t.progress.Step/n, t.progress.Step%n
	if e != t.epoch || b < t.drawn-1 {
		t.epoch, t.drawn, t.draw = e, 0, t.Sampler.beginEpoch(e)
	}
	return t.epochBatch(b)
}

// epochBatch returns batch b of the current epoch. b must be the batch drawn last or a later batch.
func (t *Trainer) epochBatch(b int) []int {
	for ; t.drawn <= b; t.drawn++ {
		t.last = t.draw()
	}
	return t.last
}

// announceNext passes the next step's rows to an encoder that is [Announced], if that step is in the same epoch.
func (t *Trainer) announceNext() {
	next := t.progress.Step + 1
	if e, ok := t.Encoder.(Announced); ok && next < t.Steps && next%t.Sampler.Batches() != 0 {
		e.Announce(t.epochBatch(next % t.Sampler.Batches()))
	}
}

// judgeBatch runs the filter on a batch and records its scores, its threshold and the rows that it keeps.
func (t *Trainer) judgeBatch(z features.Set) {
	f := &t.fact
	if t.Filter == nil {
		f.Kept = t.all[:z.Len()]
		return
	}
	f.Kept, f.Scores = t.Filter.Keep(z, t.Bank)
	f.Kept = t.addTrusted(f.Kept, z.IDs)
	f.Judge, f.Unjudged = t.Filter.Judge(), t.Filter.Unjudged()
	f.Threshold = t.Filter.Threshold()
	f.HasThreshold = isFiniteLoss(f.Threshold)
}

// addTrusted adds the trusted rows of a batch to those that the filter keeps.
func (t *Trainer) addTrusted(kept, ids []int) []int {
	if len(t.Trusted) == 0 {
		return kept
	}
	t.both = t.both[:0]
	for i, id := range ids {
		if len(kept) > 0 && kept[0] == i {
			kept = kept[1:]
		} else if !t.Trusted[id] {
			continue
		}
		t.both = append(t.both, i)
	}
	return t.both
}

// gatherKept returns a set of the kept rows, followed by the unlabelled rows, which start at row known of z. If all
// rows are kept, it returns z itself.
func (t *Trainer) gatherKept(z features.Set, known int) features.Set {
	f := &t.fact
	if len(f.Kept) == known {
		return z
	}
	if t.kept.X.Data == nil {
		t.kept = features.NewSet(len(t.all), z.Dim())
	}
	n := len(f.Kept) + z.Len() - known
	k := features.Set{X: features.Resize(t.kept.X, n, z.Dim()), Labels: t.kept.Labels[:n], IDs: t.kept.IDs[:n]}
	for to := range n {
		from := t.sourceRow(to, known)
		copy(k.Row(to), z.Row(from))
		k.Labels[to], k.IDs[to] = z.Labels[from], z.IDs[from]
	}
	return k
}

// sourceRow returns the row of the batch that gatherKept copied to a position.
func (t *Trainer) sourceRow(place, known int) int {
	if kept := t.fact.Kept; place < len(kept) {
		return kept[place]
	}
	return known + place - len(t.fact.Kept)
}

// descendGroups propagates the gradient, which is zero for dropped rows, and steps the solvers of the groups that run.
// Groups that rest and parameters with a zero gradient keep their weights, their solver's memory and their number of
// steps.
func (t *Trainer) descendGroups(z, seen features.Set) error {
	f := &t.fact
	dz := t.dKept
	if known := t.Sampler.Labelled(); len(f.Kept) != known {
		t.dz = features.Resize(t.dz, z.Len(), z.Dim())
		clear(t.dz.Data)
		for place := range seen.Len() {
			copy(features.Row(t.dz, t.sourceRow(place, known)), features.Row(t.dKept, place))
		}
		dz = t.dz
	}
	if err := t.Encoder.Backward(dz); err != nil {
		return fmt.Errorf("train: step %d (epoch %d): %w", f.Number, f.Epoch, err)
	}
	var err error
	if f.GradientNorm, err = clipGradients(t.groups, f.Number, t.Clip); err != nil {
		return fmt.Errorf("train: step %d (epoch %d): %w", f.Number, f.Epoch, err)
	}
	if !isFiniteLoss(f.GradientNorm) {
		return t.nonFinite("the gradient of the encoder", f.GradientNorm, seen.IDs)
	}
	if n := gradientNorm(t.objective.params); !isFiniteLoss(n) {
		return t.nonFinite("the gradient of a loss's own parameters", n, seen.IDs)
	}
	t.ahead = t.held
	if err = eachRunning(t.groups, f.Number, (*group).stepGroup); err != nil {
		return fmt.Errorf("train: step %d (epoch %d): %w", f.Number, f.Epoch, err)
	}
	f.LossLR, f.BackboneLR, f.PeerLR = t.movedAt(LossGroup), t.movedAt(BackboneGroup), t.movedAt(PeerGroup)
	return nil
}

// movedAt returns the learning rate with which the current step moved a group, or 0 if it moved no such group.
func (t *Trainer) movedAt(name string) float64 {
	for i := range t.groups {
		if g := &t.groups[i]; g.Name == name && len(g.moved) > 0 {
			return g.groupRate(t.fact.Number)
		}
	}
	return 0
}

// rateOf returns the learning rate of a group in the current step, or 0 if the group rests or does not exist.
func (t *Trainer) rateOf(name string) float64 {
	for i := range t.groups {
		if t.groups[i].Name == name {
			return t.groups[i].groupRate(t.fact.Number)
		}
	}
	return 0
}

func (t *Trainer) nonFinite(what string, value float64, ids []int) error {
	return &NonFinite{Step: t.fact.Number, Epoch: t.fact.Epoch, What: what, Value: value,
		IDs: append([]int(nil), ids...)}
}

// encoderNorm returns the global norm of the gradients of all encoder parameters that a step moves.
func encoderNorm(groups []group, step int) (float64, error) {
	err := eachRunning(groups, step, (*group).squareGradients)
	var sum float64
	for i := range groups {
		if groups[i].runsAt(step) {
			for _, of := range groups[i].squares {
				sum += of
			}
		}
	}
	return math.Sqrt(sum), err
}

func gradientNorm(params []*features.Param) float64 {
	var sum float64
	for _, p := range params {
		sum += sumSquares(p.Grad)
	}
	return math.Sqrt(sum)
}

// badRows lists the IDs of the rows that contain a number that is not finite.
func badRows(x blas32.General, ids []int) []int {
	var bad []int
	for i := range x.Rows {
		if !isFiniteLoss(sumSquares(features.Row(x, i))) {
			bad = append(bad, ids[i])
		}
	}
	return bad
}
