package selective

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// selcl implements Sel-CL. After the warm-up its loss for a batch of n images is:
//
//	L = U + S(batch) + S(queue) + Classify·CE + Similarity·M
//	U = 1/n Σ_i [i has no partner] InfoNCE(u_i; its key, the negatives)
//	S(A) = 1/n Σ_i [i has a partner in A] ½ Σ_v { λ_v SupCon(r; P_a) + (1-λ_v) SupCon(r; P_b) }
//
// Row r = (v, i) is view v of image i = a mixed with image b: the embedding of λ_v x_a + (1-λ_v) x_b. P_a are the
// members of A, except r, whose main image (share ≥ ½) forms a confident pair with a. Every image forms a confident
// pair with itself, so P_a always includes a's other view. P_b is the same for b. A partner of i is another image
// that forms a confident pair with i. The batch is the 2n mixed rows. The queue holds mixed rows of earlier
// steps and of this step, embedded by the running average. In U, u_i is a first view. Its key is a second
// view embedded by the running average, and the negatives are the keys of earlier steps.
//
//	CE = mean cross entropy of mixed views of n selected images, drawn with replacement, with mixed targets
//	M  = mean over pairs of rows r ≠ s of -[m log(p_r·p_s) + (1-m) log(1-p_r·p_s)],  m = λ[s ∈ P_a] + (1-λ)[s ∈ P_b]
//
// In the warm-up L = U over all images. Without selected rows CE is 0. The queue is used from QueueStart on.
// Apart from the differences in the package comment, the released code differs in M: here M covers only the batch,
// its gradient is not cut, and an image that is a partner of both a and b is used once on each side.
//
// From SecondStage on (Sel-CL+) L = Classify·CE of the rows selected at the start of that stage, and all
// parameters are trained. A share Bootstrap of the target is the class that the network currently predicts, a
// constant in the gradient. The released code starts this stage with a new classifier and its own learning rate; here
// classifier and rate continue unchanged.
// Source: Li et al., CVPR 2022, equations 5 to 10 and the released code; METHODS 13.1.
type selcl struct {
	cfg       Config
	classes   int
	set       features.Set
	views     drawer
	average   Average
	now       []*features.Param // the parameters that the average follows
	negatives *queue            // keys of U
	queue     *queue            // mixed rows

	selection *selection // nil in the warm-up
	pairs     *confidentPairs
	selected  []int
	step      selclStep
	second    blas32.General // second views
	mixed     blas32.General // scratch: views before mixing
	keys      blas32.General // from the running average: second views, then both mixed blocks
	scratch   selclScratch
}

// selclStep holds the draws and settings of a step that are fixed before the loss is evaluated.
type selclStep struct {
	rows     []int      // of the training set
	mixed    [2]mixture // of the batch, for each view
	picked   []int      // random selected rows of the training set; empty: no cross entropy
	pickedBy [2]mixture
	warm     bool // warm-up
	second   bool // second stage
	useQueue bool
}

func newSelCL(l *Learner, batch int) (*selcl, error) {
	average, now, err := l.beginAverage()
	if err != nil {
		return nil, err
	}
	dim := l.head.Config().Out
	size := min(2*l.cfg.Queue*l.classes, 2*l.set.Len())
	return &selcl{
		cfg: l.cfg, classes: l.classes, set: l.set, views: l.viewDrawer(), average: average, now: now,
		negatives: newQueue("negatives", l.cfg.Negatives+batch, dim), queue: newQueue("queue", max(size, 2*batch), dim),
		second: features.NewMatrix(batch, l.input.Dim()), mixed: features.NewMatrix(batch, l.input.Dim()),
		keys: features.NewMatrix(3*batch, dim),
	}, nil
}

func (m *selcl) methodState() []*features.Param {
	list := append(slices.Clone(m.average.Params()), m.negatives.queueParams()...)
	return append(list, m.queue.queueParams()...)
}

// considerEpoch selects rows and confident pairs if the warm-up is over.
func (m *selcl) considerEpoch(j *judge, epoch int) error {
	m.step.warm, m.step.useQueue, m.step.second = epoch < m.cfg.WarmUp, epoch >= m.cfg.QueueStart, m.cfg.isSecondStage(
		epoch,
	)
	m.selected = m.selected[:0]
	if m.step.warm {
		return nil
	}
	z, err := j.embedSet(m.set)
	if err != nil {
		return err
	}
	if m.selection, err = m.cfg.selclDetector().selectRows(z, m.classes); err != nil {
		return err
	}
	m.pairs = m.selection.findPairs()
	for i, is := range m.selection.Selected {
		if is {
			m.selected = append(m.selected, i)
		}
	}
	return nil
}

// fillInput writes the first views, both blocks of mixed views, and mixed views of selected rows.
func (m *selcl) fillInput(input blas32.General, rows []int, step int, rng *rand.Rand) (int, error) {
	if step > 1 {
		m.followHead()
	}
	n, s := len(rows), &m.step
	s.rows = append(s.rows[:0], rows...)
	s.mixed = [2]mixture{drawMixture(m.cfg.Mixup, n, rng), drawMixture(m.cfg.Mixup, n, rng)}
	first, second := features.Part(input, 0, n), features.Part(m.second, 0, n)
	if err := m.views.drawViews(first, rows, rng); err != nil {
		return 0, err
	}
	if s.second {
		return m.pickSelected(input, 0, rng)
	}
	if err := m.views.drawViews(second, rows, rng); err != nil {
		return 0, err
	}
	s.mixed[0].mixRows(features.Part(input, n, n), first)
	s.mixed[1].mixRows(features.Part(input, 2*n, n), second)
	if err := m.rememberKeys(second, features.Part(input, n, 2*n)); err != nil {
		return 0, err
	}
	if s.warm {
		s.picked = s.picked[:0]
		return 1, nil
	}
	return m.pickSelected(input, 3, rng)
}

// pickSelected draws as many selected rows as the batch has rows and writes their mixed views after the first behind
// blocks. It returns the number of blocks filled, at least one even without selected rows.
func (m *selcl) pickSelected(input blas32.General, behind int, rng *rand.Rand) (int, error) {
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
		if err := m.views.drawViews(plain, s.picked, rng); err != nil {
			return 0, err
		}
		s.pickedBy[v] = drawMixture(m.cfg.Mixup, n, rng)
		s.pickedBy[v].mixRows(features.Part(input, (behind+v)*n, n), plain)
	}
	return behind + 2, nil
}

// followHead moves the running average a share 1 - Average of the way to the current parameters.
func (m *selcl) followHead() {
	keep := float32(m.cfg.Average)
	for i, p := range m.average.Params() {
		now := m.now[i].Data
		for j := range p.Data {
			p.Data[j] = keep*p.Data[j] + (1-keep)*now[j]
		}
	}
}

// rememberKeys embeds second and mixed views with the running average and pushes them into the two queues.
func (m *selcl) rememberKeys(second, mixed blas32.General) error {
	n := second.Rows
	keys, both := features.Part(m.keys, 0, n), features.Part(m.keys, n, 2*n)
	if err := m.average.EmbedInto(keys, second); err != nil {
		return err
	}
	if err := m.average.EmbedInto(both, mixed); err != nil {
		return err
	}
	m.negatives.pushVectors(keys, m.step.rows)
	m.queue.pushVectors(both, append(append([]int(nil), m.step.rows...), m.step.rows...))
	return nil
}

func (m *selcl) appendChosen(dst []int) []int {
	for i, row := range m.step.rows {
		if m.step.warm || m.selection.Selected[row] {
			dst = append(dst, i)
		}
	}
	return dst
}
