package judges

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// judgeCombined combines class centres and heads in one likelihood. t_ik are the similarities of [bench.judgeFitted],
// with sharpness β₀. p_ik are the probabilities by heads that were trained on neither the image nor its label. Then
//
//	P(k|x_i) = softmax_k(β (u t_ik + v log p_ik / β₀))
//
// and a channel of mistakes is fitted as in judgeFitted. The weights u and v are those in [mixtures] that maximise the
// likelihood of held-out labels. Centres withstand repeated mistakes, and heads separate similar classes; the
// likelihood shows which of the two a set needs, without its true labels.
//
// To choose u and v, as to choose λ, the centre of an image's own class leaves out the image's nearest neighbour as
// well, if the class has [many] images. Similar images that were mislabelled together predict each other's labels
// through centres, but not through heads, which were not trained on these labels because the labels looked wrong.
// Without leaving out the neighbour, the choice would be centres only, and they would accept the mistakes (Omniglot,
// small clusters at 25 %: AP 0.810, with the neighbour left out 0.892).
//
// Heads also raise the probability of mistakes that they have learnt. The weight w of the channel fitted with centres
// only shows how often classes are confused. So the verdict is the logarithmic pool of the mixture, with weight 1, of
// centres only, with weight w, and of discriminants ([bench.addDiscriminants]).
func (b *bench) judgeCombined() error {
	if b.opts.Heads == nil {
		return errors.New("judges: combined needs Options.Heads")
	}
	f, own, err := b.newWhitenedField(true)
	if err != nil {
		return err
	}
	setting, _ := newLearner(b.ctx, f, nil, 0).sharpest()
	heads, err := b.newProbabilityField(f, setting.beta, b.opts.Heads)
	if err != nil {
		return err
	}
	mixed := *f
	mixed.fit, mixed.tail = make([]float32, len(f.fit)), slices.Clone(f.tail)
	said := make([]float64, len(mixtures)) // mean log probability of a held-out label; 0: not tried yet
	var same slots                         // shared: all mixtures have the same candidates
	likelihood := func(try int) float64 {
		if said[try] == 0 {
			mixed.mixFields(f, heads, mixtures[try])
			for i, v := range own {
				at := i*f.m + int(f.given[i])
				mixed.fit[at] += mixtures[try].centres * (v - f.fit[at])
			}
			l := newLearner(b.ctx, &mixed, b.assignFolds(), b.opts.Folds)
			l.slots = same
			plain, without := l.sharpest()
			_, said[try] = l.chooseChannel(plain, without)
			same = l.slots
		}
		return said[try]
	}
	best, last := climbMixtures(likelihood), len(mixtures)-1
	for most := said[best]; best > 0 && likelihood(best-1) > most-alike; {
		best--
	}
	b.v.Why = fmt.Sprintf("%s (cross-validated label likelihood: combined %.3f, centres %.3f, heads %.3f)",
		mixtures[best], math.Exp(said[best]), math.Exp(said[0]), math.Exp(said[last]))
	all, w := b.judgeWithChannel(f)
	b.v.Uneven = weighChannelGain(w)
	if best > 0 {
		mixed.mixFields(f, heads, mixtures[best])
		alone := all
		all, _ = b.judgeWithChannel(&mixed)
		all.addWeighted(alone, w)
		for _, list := range [][]float32{all.candidates, all.rest} {
			for i := range list {
				list[i] /= float32(1 + w)
			}
		}
	}
	if err := b.addDiscriminants(f, all, *b.v.Uneven); err != nil {
		return err
	}
	return b.setVerdicts(f, all)
}

// climbMixtures returns the index of the likeliest mixture by hill climbing from the best of first, middle and last.
func climbMixtures(likelihood func(try int) float64) int {
	best, last := 0, len(mixtures)-1
	climb := func(to ...int) (moved bool) {
		for _, try := range to {
			if try >= 0 && try <= last && likelihood(try) > likelihood(best)+tie {
				best, moved = try, true
			}
		}
		return moved
	}
	climb(last, last/2)
	for climb(best-1) || climb(best+1) {
	}
	return best
}

// alike is the gain in log likelihood, in nats a label, that heads must bring to replace centres, which withstand more
// mistakes. Without this threshold, heads would be used on their own for CIFAR-10 with human labels, where both
// together find more errors (AP 0.942 and 0.945).
const alike = 0.01

// tie is the least gain in log likelihood, in nats a label, that exceeds rounding error if heads are uninformative.
const tie = 1e-4

// mixture holds the weights of centres and heads.
type mixture struct{ centres, heads float32 }

// mixtures holds the weights to try: the first without heads, the last without centres.
var mixtures = []mixture{{1, 0}, {1, 0.25}, {1, 0.5}, {1, 1}, {0.5, 1}, {0.25, 1}, {0, 1}}

func (m mixture) String() string {
	switch {
	case m.heads == 0:
		return "centres only"
	case m.centres == 0:
		return "heads only"
	case m.centres == m.heads:
		return "centres and heads equally"
	case m.centres > m.heads:
		return fmt.Sprintf("centres with heads at weight %.3g", m.heads)
	}
	return fmt.Sprintf("heads with centres at weight %.3g", m.centres)
}

// mixFields sets f's similarities to weighted sums of the similarities of centres and heads. Both have the same
// candidates.
func (f *field) mixFields(centres, heads *field, by mixture) {
	for i, v := range centres.fit {
		f.fit[i] = by.centres*v + by.heads*heads.fit[i]
	}
	for i := range f.tail {
		f.tail[i] = centres.tail[i].mixTails(by.centres, heads.tail[i], by.heads)
	}
}

// mixTails returns the tail of a weighted sum of two similarities that are fully correlated.
func (t tail) mixTails(weight float32, with tail, of float32) tail {
	deviation := float64(weight)*math.Sqrt(float64(t.variance)) + float64(of)*math.Sqrt(float64(with.variance))
	return tail{weight*t.mean + of*with.mean, float32(deviation * deviation), weight*t.least + of*with.least}
}

// newProbabilityField returns a field of log p/β for the candidates of f, by the probabilities p that visit passes to
// do. Where an image is visited several times, their mean is used.
func (b *bench) newProbabilityField(f *field, beta float64,
	visit func(do func(row int, p []float64)) error) (*field, error) {
	h := *f
	h.fit, h.tail = make([]float32, len(f.fit)), slices.Clone(f.tail)
	at := make([]int, len(b.v.Order)) // position of each row in b.s
	for i, row := range b.s.Rows {
		at[row] = i
	}
	row, candidate, others := make([]float64, f.classes), make([]bool, f.classes), []int32(nil)
	said := make([]float32, f.n) // how often each image was visited
	err := visit(func(z int, p []float64) {
		i := at[z]
		said[i]++
		for k, v := range p {
			row[k], candidate[k] = math.Log(math.Max(v, 1e-30))/beta, false
		}
		for j, k := range f.column[i*f.m:][:f.m] {
			h.fit[i*f.m+j] += (float32(row[k]) - h.fit[i*f.m+j]) / said[i]
			candidate[k] = true
		}
		if f.tail == nil {
			return
		}
		others = others[:0]
		for k, is := range candidate {
			if !is {
				others = append(others, int32(k))
			}
		}
		if said[i] == 1 {
			h.tail[i] = tail{}
		}
		h.tail[i] = h.tail[i].mixTails(1-1/said[i], tailOf(row, others), 1/said[i])
	})
	return &h, err
}
