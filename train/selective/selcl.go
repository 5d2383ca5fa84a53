package selective

import (
	"context"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/filters/detectors"
)

// selcl is Sel-CL. From the end of the warm-up on, with a batch of n images:
//
//	L = U + S(batch) + S(queue) + Classify·CE + Similarity·M
//	U = 1/n Σ_i [i has no partner] InfoNCE(u_i; its key, the negatives)
//	S(A) = 1/n Σ_i [i has a partner in A] ½ Σ_v { λ_v SupCon(r; P_a) + (1-λ_v) SupCon(r; P_b) }
//
// Row r = (v, i) is view v of image i = a mixed with image b: u of λ_v x_a + (1-λ_v) x_b. P_a are the members of A, r
// itself left out, that were mixed mostly from an image which makes a confident pair with a; every image does with
// itself, so that a's other view is always there. P_b the same with b. A partner of i is another image that makes a
// confident pair with i. The batch are the 2n mixed rows; the queue are such rows of earlier steps and of this one, by
// the head's running average. Of U, u_i is a first view, its key a second one by the running average, the negatives
// such keys of earlier steps.
//
//	CE = mean cross entropy of mixed views of n selected images, drawn with replacement, targets mixed likewise
//	M  = mean over pairs of rows r ≠ s of -[m log(p_r·p_s) + (1-m) log(1-p_r·p_s)],  m = λ[s ∈ P_a] + (1-λ)[s ∈ P_b]
//
// In the warm-up L = U over all images; without selected rows CE is 0. The queue is compared with from QueueStart on.
// Differs from the released code beside what the package says: M over the batch alone, no cut of its gradient, and an
// image that is both of a's and of b's partners counts once on each side.
//
// From SecondStage on (Sel-CL+) L = Classify·CE of the rows selected when it begins, all that learns being trained, with targets
// that are a share Bootstrap of the class that the network finds likeliest now, a constant to the gradient. The released code
// begins it with the classifier drawn anew and a rate of its own; here the run goes on.
// Source: Li et al., CVPR 2022, equations 5 to 10 and the released code; METHODS 13.1.
type selcl struct {
	cfg       Config
	classes   int
	set       features.Set
	views     drawer
	average   Average
	now       []*features.Param // what it follows
	negatives *queue            // of keys
	queue     *queue            // of mixed rows

	selection *detectors.Selection // nil in the warm-up
	pairs     *detectors.Pairs
	selected  []int
	step      selclStep
	second    blas32.General // second views
	mixed     blas32.General // scratch: views before they are mixed
	keys      blas32.General // of the running average: second views, then both mixed blocks
	scratch   selclScratch
}

// selclStep is what is fixed in a step before the loss is evaluated.
type selclStep struct {
	rows     []int      // of the training set
	mixed    [2]mixture // of the batch, for each view
	picked   []int      // selected rows of the training set, drawn; none: no cross entropy
	pickedBy [2]mixture
	warm     bool // warm-up
	second   bool // second stage
	useQueue bool
}

func newSelCL(l *Learner, batch int) (*selcl, error) {
	average, now, err := l.average()
	if err != nil {
		return nil, err
	}
	dim := l.head.Config().Out
	size := min(2*l.cfg.Queue*l.classes, 2*l.set.Len())
	return &selcl{
		cfg: l.cfg, classes: l.classes, set: l.set, views: l.drawer(), average: average, now: now,
		negatives: newQueue("negatives", l.cfg.Negatives+batch, dim), queue: newQueue("queue", max(size, 2*batch), dim),
		second: features.NewMatrix(batch, l.input.Dim()), mixed: features.NewMatrix(batch, l.input.Dim()),
		keys: features.NewMatrix(3*batch, dim),
	}, nil
}

func (m *selcl) state() []*features.Param {
	list := append(slices.Clone(m.average.Params()), m.negatives.params()...)
	return append(list, m.queue.params()...)
}

// consider selects rows and pairs, once the warm-up is over.
func (m *selcl) consider(j *judge, epoch int) error {
	m.step.warm, m.step.useQueue, m.step.second = epoch < m.cfg.WarmUp, epoch >= m.cfg.QueueStart, m.cfg.second(epoch)
	m.selected = m.selected[:0]
	if m.step.warm {
		return nil
	}
	z, err := j.embed(m.set)
	if err != nil {
		return err
	}
	if m.selection, err = m.cfg.selcl().Select(context.Background(), z, m.classes); err != nil {
		return err
	}
	if m.pairs, err = m.selection.Pairs(context.Background()); err != nil {
		return err
	}
	for i, is := range m.selection.Selected {
		if is {
			m.selected = append(m.selected, i)
		}
	}
	return nil
}

// fill writes first views, both mixed views and mixed views of selected rows.
func (m *selcl) fill(input blas32.General, rows []int, step int, rng *rand.Rand) (int, error) {
	if step > 1 {
		m.follow()
	}
	n, s := len(rows), &m.step
	s.rows = append(s.rows[:0], rows...)
	s.mixed = [2]mixture{drawMixture(m.cfg.Mixup, n, rng), drawMixture(m.cfg.Mixup, n, rng)}
	first, second := features.Part(input, 0, n), features.Part(m.second, 0, n)
	if err := m.views.draw(first, rows, rng); err != nil {
		return 0, err
	}
	if s.second {
		return m.pick(input, 0, rng)
	}
	if err := m.views.draw(second, rows, rng); err != nil {
		return 0, err
	}
	s.mixed[0].mix(features.Part(input, n, n), first)
	s.mixed[1].mix(features.Part(input, 2*n, n), second)
	if err := m.remember(second, features.Part(input, n, 2*n)); err != nil {
		return 0, err
	}
	if s.warm {
		s.picked = s.picked[:0]
		return 1, nil
	}
	return m.pick(input, 3, rng)
}

// pick writes mixed views of selected rows, as many as the batch has, behind so many blocks, and says how many blocks there are
// then; without selected rows there is at least one.
func (m *selcl) pick(input blas32.General, behind int, rng *rand.Rand) (int, error) {
	n, s := len(m.step.rows), &m.step
	s.picked = s.picked[:0]
	if len(m.selected) == 0 {
		return max(behind, 1), nil
	}
	for range n {
		s.picked = append(s.picked, m.selected[rng.IntN(len(m.selected))])
	}
	for v := range s.pickedBy {
		plain := features.Part(m.mixed, 0, n)
		if err := m.views.draw(plain, s.picked, rng); err != nil {
			return 0, err
		}
		s.pickedBy[v] = drawMixture(m.cfg.Mixup, n, rng)
		s.pickedBy[v].mix(features.Part(input, (behind+v)*n, n), plain)
	}
	return behind + 2, nil
}

// follow lets the running average follow the head: what it was a step ago, and a little of what it is now.
func (m *selcl) follow() {
	keep := float32(m.cfg.Average)
	for i, p := range m.average.Params() {
		now := m.now[i].Data
		for j := range p.Data {
			p.Data[j] = keep*p.Data[j] + (1-keep)*now[j]
		}
	}
}

// remember puts keys into both queues.
func (m *selcl) remember(second, mixed blas32.General) error {
	n := second.Rows
	keys, both := features.Part(m.keys, 0, n), features.Part(m.keys, n, 2*n)
	if err := m.average.EmbedInto(keys, second); err != nil {
		return err
	}
	if err := m.average.EmbedInto(both, mixed); err != nil {
		return err
	}
	m.negatives.push(keys, m.step.rows)
	m.queue.push(both, append(append([]int(nil), m.step.rows...), m.step.rows...))
	return nil
}

func (m *selcl) chosen(dst []int) []int {
	for i, row := range m.step.rows {
		if m.step.warm || m.selection.Selected[row] {
			dst = append(dst, i)
		}
	}
	return dst
}
