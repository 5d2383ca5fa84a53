package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/features"
	"winnow/filters/selfpaced"
	"winnow/losses"
)

// paced is a bed whose terms weight their samples, against the batch and against the bank; its weights are
// recomputed after every 7th of 45 steps.
type paced struct {
	*bed
	embeds int
	rounds []Weighing
}

func newPaced(t testing.TB, dir string, change func(*Config, *selfpaced.Config)) *paced {
	t.Helper()
	p := &paced{}
	p.bed = newBed(t, dir, func(c *Config) {
		env := losses.Env{Dim: testDim, Classes: 12, Init: Rand(1, "proxies", 0), Step: c.Clock.Source(1, "loss")}
		for i, name := range []string{"weighted_multi_similarity", "weighted_multi_similarity:bank"} {
			c.Terms[i] = Term{Name: name, Loss: must(losses.New("weighted_multi_similarity", nil, env)), Weight: 1,
				Bank: i == 1}
		}
		settings := selfpaced.Default()
		settings.Mu, settings.Growth, settings.Start, settings.LambdaMax = 0.5, 1.02, 0.2, 50
		settings.Classes, settings.PerClass, settings.Rate, settings.Visits = 3, 4, 0.05, 5 // rounds with random draws
		c.SelfPaced = &SelfPaced{Every: 7, Seed: 1, Embed: p.embed}
		if change != nil {
			change(c, &settings)
		}
		if c.SelfPaced != nil {
			c.SelfPaced.Weights = must(selfpaced.New(settings, c.Encoder.(*linear).set))
		}
		c.Observe = Together(c.Observe, On(func(w Weighing) { p.rounds = append(p.rounds, w) }))
	})
	return p
}

// embed embeds the training set with the encoder's current weights and counts the calls.
func (p *paced) embed(ctx context.Context) (features.Set, error) {
	p.embeds++
	set := p.encoder.set
	z, _ := p.encoder.embed(set.X)
	return features.Set{X: z, Labels: set.Labels, IDs: set.IDs}, ctx.Err()
}

// pacedEnd holds the final weights and files of a self-paced run.
type pacedEnd struct {
	Rest      end
	SelfPaced selfpaced.State
}

func (p *paced) endOf(t *testing.T, dir string) pacedEnd {
	return pacedEnd{endOf(t, p.bed, dir), p.cfg.SelfPaced.Weights.State()}
}

// A round follows every block of steps and the last step. The steps of a block use the weights from the round before
// it, by the IDs of the samples. The metrics contain each round.
func TestRoundsAlternateWithSteps(t *testing.T) {
	dir := t.TempDir()
	p := newPaced(t, dir, nil)
	var seen [][]float64 // the loss's weights at each step
	inner := p.cfg.Terms[0].Loss
	watch := &watchedWeights{Weighted: inner.(losses.Weighted)}
	p.cfg.Terms[0].Loss = watch
	p.cfg.Observe = Together(p.cfg.Observe, On(func(s Step) { seen = append(seen, slices.Clone(watch.w)) }))
	if _, err := p.trainer(t).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	var at []int
	for i, r := range p.rounds {
		at = append(at, r.Step)
		if r.Number != i+1 || r.Epoch != p.cfg.Sampler.epochOf(r.Step) || r.Objective > r.Before {
			t.Errorf("round %+v", r)
		}
	}
	if !slices.Equal(at, []int{7, 14, 21, 28, 35, 42, 45}) || p.embeds != 7 {
		t.Errorf("rounds after steps %v, %d embeddings", at, p.embeds)
	}
	set := p.encoder.set
	ones := slices.Repeat([]float64{1}, set.IDs[set.Len()-1]+1)
	for i, w := range seen {
		if before := i > 0 && (i%7 != 0) && !slices.Equal(w, seen[i-1]); before {
			t.Errorf("step %d: weights changed within a block", i+1)
		}
		if i < 7 && !slices.Equal(w, ones) {
			t.Errorf("step %d: weights %v before the first round", i+1, w)
		}
		if i >= 7 && i%7 == 0 && slices.Equal(w, seen[i-1]) {
			t.Errorf("step %d: the round did not change the weights", i+1)
		}
	}
	final := p.cfg.SelfPaced.Weights.All()
	for i, id := range set.IDs {
		if watch.w[id] != final[i] {
			t.Fatalf("the loss has weight %v for sample %d, expected %v", watch.w[id], id, final[i])
		}
	}
	var told []Weighing
	for text := range strings.Lines(string(read(t, dir, MetricsFile))) {
		var l struct {
			Step, Epoch int
			SelfPaced   *selfpaced.Round
		}
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		if l.SelfPaced != nil {
			told = append(told, Weighing{l.Epoch, l.Step, *l.SelfPaced})
		}
	}
	if diff := cmp.Diff(p.rounds, told); diff != "" {
		t.Errorf("metrics: %s", diff)
	}
}

// watchedWeights is a loss that records the weights that it receives.
type watchedWeights struct {
	losses.Weighted
	w []float64
}

func (l *watchedWeights) SetWeights(w []float64) {
	l.w = w
	l.Weighted.SetWeights(w)
}

// epochOf returns the epoch of a step; both are counted from 1.
func (s *Sampler) epochOf(step int) int { return (step + s.Batches() - 1) / s.Batches() }

// A run that is interrupted anywhere, even during a round, and resumed writes the same bytes as an uninterrupted run.
func TestResumedPacedRunIsTheSame(t *testing.T) {
	dir := t.TempDir()
	p := newPaced(t, dir, nil)
	tr := p.trainer(t)
	if _, err := tr.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := p.endOf(t, dir)
	if first, last := want.SelfPaced.Weights[0], want.SelfPaced; last.Rounds != 7 ||
		slices.Max(last.Weights) == slices.Min(last.Weights) {
		t.Fatalf("the weights do not vary, so that the test shows nothing: %v, %d rounds", first, last.Rounds)
	}
	for seed := range uint64(6) {
		rng, dir, cuts, inRound := rand.New(rand.NewPCG(seed, 2)), t.TempDir(), 0, 0
		for {
			ctx, cancel := context.WithCancel(context.Background())
			p := newPaced(t, dir, nil)
			left, atRound := 1+rng.IntN(11), rng.IntN(2) == 0
			p.cfg.Observe = Together(p.cfg.Observe, On(func(Step) {
				if left--; left <= 0 && !atRound {
					cancel()
				}
			}))
			whole := p.cfg.SelfPaced.Embed
			p.cfg.SelfPaced.Embed = func(ctx context.Context) (features.Set, error) {
				if left <= 0 && atRound {
					inRound++
					cancel()
				}
				return whole(ctx)
			}
			tr := p.trainer(t)
			if _, err := tr.Resume(); err != nil {
				t.Fatal(err)
			}
			_, err := tr.Run(ctx)
			cancel()
			if err == nil {
				if diff := cmp.Diff(want, p.endOf(t, dir)); diff != "" {
					t.Errorf("seed %d, %d interruptions: resumed run differs (-whole +resumed):\n%s", seed, cuts, diff)
				}
				break
			}
			if cuts++; !errors.Is(err, context.Canceled) || cuts > 100 {
				t.Fatal(cuts, err)
			}
			f := must(os.OpenFile(filepath.Join(dir, MetricsFile), os.O_APPEND|os.O_WRONLY, 0))
			// lines of later steps, which the checkpoint does not contain
			fmt.Fprintf(f, `{"step":%d,"epoch":9,"selfpaced":{"number":3}}`+"\n"+`{"step":99,"lo`, 44)
			f.Close()
		}
		if cuts == 0 || inRound == 0 && seed == 0 {
			t.Errorf("seed %d: %d interruptions, %d of them during a round", seed, cuts, inRound)
		}
	}
}

// A run that stops early also ends with a round, after the validation that stopped it. Its weights belong to its last
// embedding, even if the run was interrupted before that round.
func TestLostPatienceEndsWithARound(t *testing.T) {
	change := func(c *Config, _ *selfpaced.Config) {
		c.Validate = func(context.Context) (float64, error) { return 0, nil }
		c.ValidateEvery, c.Patience = 5, 2
	}
	dir := t.TempDir()
	whole := newPaced(t, dir, change)
	tr := whole.trainer(t)
	r, err := tr.Run(context.Background())
	if err != nil || !r.Stopped || r.Step != 10 || r.Weighed != 10 || len(whole.rounds) != 2 {
		t.Fatalf("%v, %+v, rounds %+v; expected rounds after the steps 7 and 10", err, r, whole.rounds)
	}
	want := whole.endOf(t, dir)
	dir = t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cut := newPaced(t, dir, change)
	cut.cfg.Observe = Together(cut.cfg.Observe, On(func(v Validation) {
		if v.Step == 10 {
			cancel()
		}
	}))
	if _, err := cut.trainer(t).Run(ctx); !errors.Is(err, context.Canceled) || len(cut.rounds) != 1 {
		t.Fatal(err, cut.rounds)
	}
	again := newPaced(t, dir, change)
	tr = again.trainer(t)
	if found, err := tr.Resume(); !found || err != nil {
		t.Fatal(found, err)
	}
	if _, err := tr.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, again.endOf(t, dir)); diff != "" {
		t.Errorf("resumed run differs (-whole +resumed):\n%s", diff)
	}
}

// A run whose weights are always 1 equals, bit for bit at every step, a run with the unweighted loss.
func TestWeightsOfOneChangeNothing(t *testing.T) {
	run := func(name string, settings map[string]any, lambda float64) *paced {
		p := newPaced(t, "", func(c *Config, s *selfpaced.Config) {
			env := losses.Env{Dim: testDim, Classes: 12, Init: Rand(1, "proxies", 0), Step: c.Clock.Source(1, "loss")}
			for i := range 2 {
				c.Terms[i].Loss = must(losses.New(name, settings, env))
			}
			s.Lambda, s.LambdaMax = lambda, max(lambda, 1)
			if lambda == 0 {
				c.SelfPaced = nil
			}
		})
		if _, err := p.trainer(t).Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		return p
	}
	ones := run("weighted_multi_similarity", map[string]any{"base": 0.7}, 1e6) // every loss is below λ
	plain := run("multi_similarity", map[string]any{"base": 0.7}, 0)
	if slices.Min(ones.cfg.SelfPaced.Weights.All()) != 1 || len(ones.rounds) != 7 {
		t.Fatalf("some weights are not 1: %+v", ones.rounds)
	}
	for i, s := range ones.facts {
		if o := plain.facts[i]; s.Loss != o.Loss || s.GradientNorm != o.GradientNorm || s.Skipped {
			t.Fatalf("step %d: loss %v and gradient %v, on the plain loss %v and %v", i+1, s.Loss, s.GradientNorm,
				o.Loss, o.GradientNorm)
		}
	}
	if len(ones.facts) != 45 || !slices.Equal(ones.encoder.w.Data, plain.encoder.w.Data) {
		t.Error("the weights of the encoder differ")
	}
	if other := run("weighted_multi_similarity", map[string]any{"base": 0.7}, 1); slices.Equal(other.encoder.w.Data,
		plain.encoder.w.Data) {
		t.Error("lower weights have no effect")
	}
}

// A run that cannot start or continue returns an error with the reason.
func TestPacedRunRefuses(t *testing.T) {
	for want, change := range map[string]func(*Config, *selfpaced.Config){
		"train: self-paced weights every 0 steps, expected at least 1": func(c *Config, _ *selfpaced.Config) {
			c.SelfPaced.Every = 0
		},
		"train: self-paced weights need a loss that weights its samples, found none": func(c *Config,
			_ *selfpaced.Config) {
			c.Terms = c.Terms[2:]
		},
	} {
		if _, err := New(newPaced(t, "", change).cfg); err == nil || err.Error() != want {
			t.Errorf("%v, expected %s", err, want)
		}
	}
	dir := t.TempDir()
	if _, err := newPaced(t, dir, nil).trainer(t).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Config){
		"does not fit this training": func(c *Config) { c.SelfPaced = nil },
		"selfpaced: state: 180 weights, expected 179": func(c *Config) {
			set := c.Encoder.(*linear).set
			c.SelfPaced.Weights = must(selfpaced.New(selfpaced.Default(), set.Rows(upTo(set.Len()-1))))
		},
	} {
		p := newPaced(t, dir, nil)
		change(&p.cfg)
		tr := p.trainer(t)
		if _, err := tr.Resume(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected …%s…", err, want)
		}
	}
	p := newPaced(t, "", nil)
	p.cfg.SelfPaced.Embed = func(context.Context) (features.Set, error) {
		return features.Set{}, errors.New("no picture")
	}
	if _, err := p.trainer(t).Run(context.Background()); err == nil ||
		err.Error() != "train: weights after step 7: no picture" {
		t.Error(err)
	}
}

func upTo(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}
