package train

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"

	"winnow/features"
	"winnow/filters/correction"
	"winnow/losses"
)

// correcting returns a bed whose labels are corrected.
func correcting(t testing.TB, dir string, more func(*Config)) *bed {
	return newBed(t, dir, func(c *Config) {
		set := c.Encoder.(*linear).set
		c.Corrector = must(correction.New(correction.Config{Visits: 2, Confidence: 0.4}, set.Labels, 12))
		if more != nil {
			more(c)
		}
	})
}

// A run that is stopped at any step and resumed ends like an uninterrupted one, including labels.
func TestCorrectedRunResumes(t *testing.T) {
	dir := t.TempDir()
	b := correcting(t, dir, nil)
	tr := b.trainer(t)
	must(tr.Run(context.Background()))
	want, n := endOf(t, b, dir), len(b.cfg.Corrector.Corrections())
	if steps := b.cfg.Corrector.State().Steps; n < 5 || steps[0] > 2*b.cfg.Steps/3 {
		t.Fatalf("%d corrections in %d steps, expected more and earlier ones", n, b.cfg.Steps)
	}
	whole := b.cfg.Corrector.State()
	for _, cut := range []int{3, 11, 17, 20, 26, 33, 44} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(context.Background())
		b := correcting(t, dir, nil)
		left := cut
		b.cfg.Observe = Together(b.cfg.Observe, On(func(Step) {
			if left--; left == 0 {
				cancel()
			}
		}))
		if _, err := b.trainer(t).Run(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		again := correcting(t, dir, nil)
		tr := again.trainer(t)
		must(tr.Resume())
		must(tr.Run(context.Background()))
		if diff := cmp.Diff(whole, again.cfg.Corrector.State()); diff != "" {
			t.Errorf("cut after step %d: corrections differ (-whole +resumed):\n%s", cut, diff)
		}
		if diff := cmp.Diff(want, endOf(t, again, dir)); diff != "" {
			t.Errorf("cut after step %d: differs (-whole +resumed):\n%s", cut, diff)
		}
	}
	if _, err := newBed(t, dir, nil).trainer(t).Resume(); err == nil ||
		!strings.Contains(err.Error(), "only one of checkpoint and run has a bank, a filter or corrections") {
		t.Errorf("a run without correction took the checkpoint over: %v", err)
	}
}

// labelSpy records the labels that a loss receives.
type labelSpy struct {
	losses.Loss
	see func(z features.Set)
}

func (l labelSpy) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	l.see(z)
	return l.Loss.Eval(grad, z, ref)
}

// Losses, bank, sampler and filter use the corrected label from the step after the correction on, the sampler
// from the next epoch on. Nothing else changes, and the encoder's own labels stay.
func TestCorrectionsReachAll(t *testing.T) {
	var b *bed
	seen, moved := 0, 0
	b = correcting(t, "", func(c *Config) {
		c.Terms[0].Loss = labelSpy{c.Terms[0].Loss, func(z features.Set) {
			labels := b.cfg.Corrector.LabelsAfter(b.cfg.Clock.Step() - 1)
			for i, id := range z.IDs {
				row := id - 1000
				if z.Labels[i] != labels[row] {
					t.Errorf("step %d: row %d is shown with label %d, expected %d", b.cfg.Clock.Step(), row,
						z.Labels[i], labels[row])
				}
				if labels[row] != b.encoder.set.Labels[row] {
					seen++
				}
			}
		}}
	})
	given := slices.Clone(b.encoder.set.Labels)
	tr := b.trainer(t)
	must(tr.Run(context.Background()))
	for _, y := range b.cfg.Corrector.Corrections() {
		bank := b.cfg.Bank.Set()
		for i, id := range bank.IDs {
			if id-1000 == y.Row && bank.Labels[i] == y.To {
				moved++
			}
		}
	}
	if seen == 0 || moved == 0 || !slices.Equal(given, b.encoder.set.Labels) {
		t.Errorf("corrected labels: %d shown to the loss, %d in the bank; the encoder's labels changed: %v", seen,
			moved, !slices.Equal(given, b.encoder.set.Labels))
	}
	last := tr.epoch
	labels := b.cfg.Corrector.LabelsAfter(last * b.cfg.Sampler.Batches())
	if wrong := checkEpoch(b.cfg.Sampler.Epoch(last), labels, 6, 4, b.cfg.Sampler.Batches(), false); wrong != "" {
		t.Errorf("the last epoch does not draw by the labels that it began with: %s", wrong)
	}
	if wrong := checkEpoch(b.cfg.Sampler.Epoch(last), given, 6, 4, b.cfg.Sampler.Batches(), false); wrong == "" {
		t.Error("the last epoch draws by the given labels")
	}
}

// Whatever the labels become, an epoch keeps the number and size of its batches, and leaves out only what does
// not fit.
func TestRelabelledSampler(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 12), 1, 10).Draw(t, "class sizes")
		var labels []int
		for class, n := range sizes {
			for range n {
				labels = append(labels, class)
			}
		}
		labels = append(labels, -1)
		p, k := rapid.IntRange(1, 6).Draw(t, "P"), rapid.IntRange(1, 5).Draw(t, "K")
		grouped := rapid.Bool().Draw(t, "groups")
		s := must(NewSampler(byClass(grouped, p, k), labels, 7))
		batches, size, before := s.Batches(), s.Size(), s.Epoch(3)
		after, first := slices.Clone(labels), 0
		for _, n := range sizes {
			to := rapid.IntRange(0, len(sizes)-1).Draw(t, "to")
			for i := first + 1; i < first+n; i++ { // the first stays, so that no class disappears
				if rapid.Bool().Draw(t, "moves") {
					after[i] = to
				}
			}
			first += n
		}
		s.relabelRows(after)
		groups, most := 0, 0
		for class := range sizes {
			n := 0
			for _, y := range after {
				if y == class {
					n++
				}
			}
			groups += (n + k - 1) / k
			most = max(most, (n+k-1)/k)
		}
		fits := groups <= min(p, len(sizes))*batches && most <= batches
		if wrong := checkEpoch(s.Epoch(3), after, p, k, batches, grouped && fits); wrong != "" ||
			s.Batches() != batches || s.Size() != size {
			t.Fatalf("relabelled: %s; %d batches of %d, before %d of %d", wrong, s.Batches(), s.Size(), batches, size)
		}
		s.relabelRows(labels)
		if !cmp.Equal(s.Epoch(3), before) {
			t.Fatal("with the first labels again the epoch is another")
		}
	})
}
