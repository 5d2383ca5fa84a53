package selfpaced

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"winnow/features"
)

// Weights holds the weights of the training samples, initially all 1. Training alternates between steps with a loss
// that weights its samples ([Weights.ByID]) and one [Weights.Update] with the current embeddings (BSPML, algorithm 1).
type Weights struct {
	config Config
	labels []int
	rowOf  map[int]int // row of each ID
	groups grouping
	w      []float64
	lambda float64 // λ of the next round
	rounds int
}

// Round describes one update.
type Round struct {
	Number    int     `json:"number"`    // from 1
	Lambda    float64 `json:"lambda"`    // the threshold of this round
	Mean      float64 `json:"maw"`       // mean of the classes' mean weights
	Deviation float64 `json:"sdaw"`      // population standard deviation of the classes' mean weights
	Before    float64 `json:"before"`    // objective with the old weights
	Objective float64 `json:"objective"` // objective with the new weights
	Excluded  int     `json:"excluded"`  // number of samples with weight 0
	Full      int     `json:"full"`      // number of samples with weight 1
	Visits    int     `json:"visits"`    // visits of every sample; 0: weights computed directly ([Config.Hard])
	Converged bool    `json:"converged"` // whether the round stopped by the tolerance, not by the bound on visits
}

// New returns weights of 1 for all rows of the training set. Rows are identified by their IDs or, without IDs, by their
// positions.
func New(config Config, train features.Set) (*Weights, error) {
	if err := config.Check(); err != nil {
		return nil, err
	}
	n := train.Len()
	if n == 0 || len(train.Labels) != n || train.IDs != nil && len(train.IDs) != n {
		return nil, fmt.Errorf("selfpaced: %d samples with %d labels and %d ids, expected at least one sample and "+
			"a label for each", n, len(train.Labels), len(train.IDs))
	}
	w := &Weights{config: config, labels: slices.Clone(train.Labels), rowOf: make(map[int]int, n),
		w: make([]float64, n), lambda: config.Lambda}
	for i, label := range train.Labels {
		if label < 0 {
			return nil, fmt.Errorf("selfpaced: row %d has no label, expected a label for every row", i)
		}
		id := i
		if train.IDs != nil {
			id = train.IDs[i]
		}
		if id < 0 {
			return nil, fmt.Errorf("selfpaced: row %d has the id %d, expected 0 or more", i, id)
		}
		if other, ok := w.rowOf[id]; ok {
			return nil, fmt.Errorf("selfpaced: rows %d and %d have the same id, %d", other, i, id)
		}
		w.rowOf[id], w.w[i] = i, 1
	}
	w.groups = newGrouping(w.labels)
	return w, nil
}

// Update computes new weights for the embeddings z, unit rows in the order of the training set, and raises λ.
// rng draws the order of the visits, the samples of each gradient, and the references if there are too many
// samples for complete sums.
func (w *Weights) Update(z features.Set, rng *rand.Rand) (Round, error) {
	if err := w.checkUpdate(z); err != nil {
		return Round{}, err
	}
	c := w.config
	l := w.groups.computeLosses(c, z, rng)
	if w.rounds == 0 && c.Lambda == 0 {
		ones := slices.Repeat([]float64{1}, len(w.w))
		w.lambda = newProblem(w.groups, l, 0, 0, ones).startLambda(c.Start, c.Hard)
	}
	w.lambda = min(w.lambda, c.LambdaMax)
	w.rounds++
	r := Round{Number: w.rounds, Lambda: w.lambda}
	w.descendWeights(&r, l, rng)
	r.measureWeights(w.labels, w.w)
	w.lambda = nextLambda(w.lambda, c.Growth, c.LambdaMax)
	return r, nil
}

// descendWeights updates the weights for the given losses, and records the objective before and after and the visits.
func (w *Weights) descendWeights(r *Round, l Losses, rng *rand.Rand) {
	c := w.config
	if c.Hard {
		r.Before = hardObjective(w.w, l, w.lambda)
		hardWeights(w.w, l, w.lambda)
		r.Objective, r.Converged = hardObjective(w.w, l, w.lambda), true
		return
	}
	p := newProblem(w.groups, l, w.lambda, c.Mu, w.w)
	r.Before = p.computeObjective()
	d := descent{problem: p, rate: c.Rate, printed: c.Printed, classes: c.Classes, perClass: c.PerClass}
	for r.Visits < c.Visits && !r.Converged {
		r.Visits++
		r.Converged = d.visitWeights(rng) <= c.Tolerance && c.Tolerance > 0
	}
	p.recomputeSums()
	r.Objective = p.computeObjective()
}

// measureWeights computes the statistics of the weights.
func (r *Round) measureWeights(labels []int, weights []float64) {
	r.Mean, r.Deviation = Spread(labels, weights)
	for _, v := range weights {
		switch v {
		case 0:
			r.Excluded++
		case 1:
			r.Full++
		}
	}
}

// checkUpdate validates the arguments of Update.
func (w *Weights) checkUpdate(z features.Set) error {
	if z.Len() != len(w.w) || !slices.Equal(z.Labels, w.labels) {
		return fmt.Errorf("selfpaced: embeddings of %d rows, expected the %d rows of the training set with the same "+
			"labels, in order", z.Len(), len(w.w))
	}
	if !features.UnitRows(z.X) {
		return fmt.Errorf("selfpaced: embeddings do not have length 1")
	}
	return nil
}

// ByID returns the weights indexed by ID, as required by losses: dst[id] is the weight of the sample with that ID, or 1
// if there is no such sample. The length of the result is the largest ID plus one.
func (w *Weights) ByID(dst []float64) []float64 {
	last := 0
	for id := range w.rowOf {
		last = max(last, id)
	}
	dst = slices.Grow(dst[:0], last+1)[:last+1]
	for i := range dst {
		dst[i] = 1
	}
	for id, row := range w.rowOf {
		dst[id] = w.w[row]
	}
	return dst
}

// All returns a copy of the weights of all samples, in order.
func (w *Weights) All() []float64 { return slices.Clone(w.w) }

// State is the state of the weights between rounds, for a checkpoint.
type State struct {
	Weights []float64 `json:"weights,omitempty"`
	Lambda  float64   `json:"lambda"`
	Rounds  int       `json:"rounds"`
}

// State returns a copy of the current state.
func (w *Weights) State() State { return State{w.All(), w.lambda, w.rounds} }

// SetState restores a saved state. It returns an error, and changes nothing, if the state does not fit these weights.
func (w *Weights) SetState(s State) error {
	if len(s.Weights) != len(w.w) {
		return fmt.Errorf("selfpaced: state: %d weights, expected %d", len(s.Weights), len(w.w))
	}
	copy(w.w, s.Weights)
	w.lambda, w.rounds = s.Lambda, s.Rounds
	return nil
}
