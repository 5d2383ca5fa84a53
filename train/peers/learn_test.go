package peers

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/head"
	"winnow/train"
)

// clusters returns a set in which some features separate the classes and larger features do not depend on the
// class. corrupt replaces a fraction of the labels. The true labels are returned for the test only.
func clusters(
	seed uint64, classes, each int, corrupt func(c int, draw func() float64) int,
) (set features.Set, truth []int) {
	const dim = 24
	rng := train.Rand(seed, "clusters", 0)
	centres := features.NewMatrix(classes, dim)
	for i := range centres.Data {
		centres.Data[i] = float32(rng.NormFloat64())
	}
	set = features.NewSet(classes*each, dim)
	truth = make([]int, set.Len())
	for i := range set.Len() {
		c := i % classes
		truth[i], set.Labels[i], set.IDs[i] = c, corrupt(c, rng.Float64), 1000+i
		row := set.Row(i)
		for j := range row {
			spread := 0.9
			if j < dim/3 {
				spread = 3
			}
			row[j] = centres.Data[c*dim+j] + float32(spread*rng.NormFloat64())
		}
	}
	return set, truth
}

// anyOther returns a function that replaces a fraction of the labels by any other class.
func anyOther(classes int, rate float64) func(int, func() float64) int {
	return func(c int, draw func() float64) int {
		if draw() >= rate {
			return c
		}
		return (c + 1 + int(draw()*float64(classes-1))) % classes
	}
}

// nextOne returns a function that replaces a fraction of the labels by the next class.
func nextOne(classes int, rate float64) func(int, func() float64) int {
	return func(c int, draw func() float64) int {
		if draw() >= rate {
			return c
		}
		return (c + 1) % classes
	}
}

// bed is a run of a method.
type bed struct {
	networks *Networks
	head     *head.Head
	cfg      train.Config
	right    map[int]bool // by ID: whether the given label is correct
	kept     [2]int       // number of rows chosen in the last third of the run, and number of them with correct labels
}

func newBed(t testing.TB, cfg Config, set features.Set, truth []int, classes int, epochs int, seed uint64) *bed {
	t.Helper()
	sampler, err := train.NewSampler(train.Shuffle{Rows: 50}, set.Labels, seed)
	if err != nil {
		t.Fatal(err)
	}
	steps := epochs * sampler.Batches()
	cfg.Epoch = sampler.Batches()
	b := &bed{right: map[int]bool{}}
	for i, id := range set.IDs {
		b.right[id] = truth[i] == set.Labels[i]
	}
	if b.head, err = head.New(t.Context(), head.Config{In: set.Dim(), Out: 12, Bias: true, Init: head.Random}, set.X,
		train.Rand(seed, "head", 0)); err != nil {
		t.Fatal(err)
	}
	clock := new(train.Clock)
	if b.networks, err = New(t.Context(), cfg, Input{Head: b.head, Train: set, Classes: classes, Batch: sampler.Size(),
		Clock: clock, Seed: seed}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.networks.Close() })
	b.cfg = train.Config{Encoder: b.networks, Sampler: sampler, Terms: []train.Term{b.networks.Term()}, Steps: steps,
		Clock: clock}
	b.cfg.Groups, err = b.networks.Groups(steps, 0, func(_ string, n int) (train.Solver, train.Schedule, error) {
		solver, err := train.NewSolver(train.DefaultSolver("adam"))
		if err != nil {
			return nil, train.Schedule{}, err
		}
		schedule, err := train.NewSchedule(train.ScheduleConfig{Name: "linear", Hold: 0.4, Beta1: 0.1}, 3e-3, n,
			sampler.Batches())
		return solver, schedule, err
	})
	if err != nil {
		t.Fatal(err)
	}
	b.cfg.Observe = train.Together(b.cfg.Observe, train.On(func(s train.Step) {
		for _, i := range s.Kept {
			if s.Number > steps*2/3 {
				b.kept[0]++
				if b.right[s.IDs[i]] {
					b.kept[1]++
				}
			}
		}
	}))
	return b
}

func (b *bed) run(t testing.TB) {
	t.Helper()
	tr, err := train.New(b.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// clean returns the share of correct labels among the rows chosen in the last third of the run.
func (b *bed) clean() float64 { return float64(b.kept[1]) / float64(b.kept[0]) }

// precision1 returns P@1 of the first network's unit rows with respect to labels.
func (b *bed) precision1(t testing.TB, set features.Set, labels []int) float64 {
	t.Helper()
	z, err := b.head.Embed(set.X)
	if err != nil {
		t.Fatal(err)
	}
	s := features.NewMatrix(z.Rows, z.Rows)
	blas32.Gemm('N', 'T', 1, z, z, 0, s)
	hits := 0
	for i := range z.Rows {
		row := features.Row(s, i)
		row[i] = float32(math.Inf(-1))
		if labels[argmax(row)] == labels[i] {
			hits++
		}
	}
	return float64(hits) / float64(z.Rows)
}

// accuracy returns how often the first network predicts the true class.
func (b *bed) accuracy(t testing.TB, set features.Set, truth []int) float64 {
	t.Helper()
	net := b.networks.list[0]
	y, err := net.headRows(set.Len(), 50)
	if err != nil {
		t.Fatal(err)
	}
	logits := net.blockLogits(features.NewMatrix(0, 0), y, 0, set.Len())
	hits := 0
	for i, c := range truth {
		if argmax(features.Row(logits, i)) == c {
			hits++
		}
	}
	return float64(hits) / float64(len(truth))
}

// With 40 % wrong labels, the rows that two networks choose for each other have far more correct labels than random
// rows. The embedding is better than the embedding of one network that trusts all labels.
func TestTeachingEachOther(t *testing.T) {
	const classes, rate = 10, 0.4
	for seed := range uint64(3) {
		set, truth := clusters(seed, classes, 60, anyOther(classes, rate))
		score, clean := map[string]float64{}, map[string]float64{}
		for _, method := range []string{CoTeaching, CoTeachingTemperature, CrossEntropy} {
			cfg := Default(method)
			cfg.Rate, cfg.Gradual = rate, 5
			b := newBed(t, cfg, set, truth, classes, 20, seed)
			before := b.precision1(t, set, truth)
			b.run(t)
			score[method], clean[method] = b.precision1(t, set, truth), b.clean()
			t.Logf("seed %d: %s: right labels among chosen %.3f, P@1 %.3f → %.3f, names the true class %.3f", seed,
				method, b.clean(), before, score[method], b.accuracy(t, set, truth))
			if score[method] < before+0.1 {
				t.Errorf("seed %d: %s: P@1 rises from %.3f to %.3f only", seed, method, before, score[method])
			}
		}
		chance := clean[CrossEntropy] // cross entropy chooses all rows, so the check below must reject it
		if cleaner(chance, chance) {
			t.Errorf("seed %d: the check accepts %.3f, which is chance", seed, chance)
		}
		for _, method := range []string{CoTeaching, CoTeachingTemperature} {
			if !cleaner(clean[method], chance) {
				t.Errorf("seed %d: %s: %.3f of the labels chosen are right, by chance %.3f", seed, method,
					clean[method], chance)
			}
		}
		if score[CoTeaching] < score[CrossEntropy]+0.02 {
			t.Errorf("seed %d: P@1 of co-teaching is %.3f, of cross entropy %.3f", seed, score[CoTeaching],
				score[CrossEntropy])
		}
	}
}

// cleaner reports whether a selection is far better than chance.
func cleaner(clean, chance float64) bool { return clean > chance+0.2 }

// Co-teaching+ selects rows on which the networks disagree. Such rows have more wrong labels than others, but the
// selected rows have fewer wrong labels than all rows with disagreement.
func TestDisagreementIsSifted(t *testing.T) {
	const classes, rate = 10, 0.4
	for seed := range uint64(3) {
		set, truth := clusters(seed, classes, 60, anyOther(classes, rate))
		cfg := Default(CoTeachingPlus)
		cfg.Rate, cfg.Gradual, cfg.WarmUp = rate, 5, 3
		b := newBed(t, cfg, set, truth, classes, 20, seed)
		var among, right int
		b.cfg.Observe = train.Together(b.cfg.Observe, train.On(func(s train.Step) {
			if s.Number <= b.cfg.Steps*2/3 {
				return
			}
			rows := b.networks.loss.exchange.among
			if len(rows) == 0 {
				rows = b.networks.loss.exchange.chosen[1]
			}
			for _, i := range rows {
				among++
				if b.right[s.IDs[i]] {
					right++
				}
			}
		}))
		b.run(t)
		share := float64(right) / float64(among)
		t.Logf("seed %d: right labels among disagreeing %.3f, among chosen %.3f; %d of %d rows; P@1 %.3f", seed, share,
			b.clean(), b.kept[0], 50*b.cfg.Steps/3, b.precision1(t, set, truth))
		if b.clean() < share+0.05 || among > 50*b.cfg.Steps/6 {
			t.Errorf("seed %d: of %d disagreeing rows %.3f have right labels, of the chosen ones %.3f", seed, among,
				share, b.clean())
		}
	}
}

// With 40 % pair noise, a network predicts true classes better if it is given the noise matrix, or has estimated it,
// than without a matrix.
func TestForwardCorrectionLearnsThroughTheNoise(t *testing.T) {
	const classes, rate = 6, 0.4
	for seed := range uint64(3) {
		set, truth := clusters(seed, classes, 120, nextOne(classes, rate))
		named := map[string]float64{}
		for _, what := range []string{CrossEntropy, Pair, Estimated} {
			cfg := Default(CrossEntropy)
			if what != CrossEntropy {
				cfg = Default(FCorrection)
				cfg.Transition, cfg.Rate = what, rate
			}
			if what == Estimated {
				cfg.FirstStage = 10 * 14
			}
			b := newBed(t, cfg, set, truth, classes, 25, seed)
			b.run(t)
			named[what] = b.accuracy(t, set, truth)
			if what == Estimated {
				checkEstimate(t, b.networks.loss.transition, classes, rate)
			}
		}
		t.Logf("seed %d: names the true class: cross entropy %.3f, known matrix %.3f, estimated %.3f", seed,
			named[CrossEntropy], named[Pair], named[Estimated])
		if named[Pair] < named[CrossEntropy]+0.05 || named[Estimated] < named[CrossEntropy]+0.03 {
			t.Errorf("seed %d: %v", seed, named)
		}
	}
}

// checkEstimate checks how much an estimate differs from the matrix with which the labels were drawn.
func checkEstimate(t *testing.T, got *transition, classes int, rate float64) {
	t.Helper()
	want, err := newTransition(Pair, classes, rate)
	if err != nil {
		t.Fatal(err)
	}
	var far float64
	for i := range classes {
		var sum float64
		for j := range classes {
			far += math.Abs(got.at(i, j)-want.at(i, j)) / float64(classes)
			sum += got.at(i, j)
		}
		if math.Abs(sum-1) > 1e-5 {
			t.Errorf("row %d of the estimate sums to %v", i, sum)
		}
	}
	t.Logf("a row of the estimate is off by %.3f on average", far)
	if far > 0.72 { // the identity matrix differs by 0.8
		t.Errorf("a row of the estimate is off by %.3f on average", far)
	}
}
