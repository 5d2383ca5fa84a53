package judges

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// judgeCombined judges by class centres and by heads in one likelihood. With the similarities t_ik of
// [bench.judgeFitted], of sharpness β₀, and the probabilities p_ik of heads trained on neither the image nor its label,
//
//	P(k|x_i) = softmax_k(β (u t_ik + v log p_ik / β₀))
//
// and a channel of mistakes as in fitted. The weights u and v are those of [mixtures] under which held-out labels
// are likeliest. Centres withstand repeated mistakes, heads separate similar classes; the
// likelihood shows, without any truth, which of the two a set needs.
//
// For this choice, as for that of λ, a centre leaves out the nearest image of the label if the class has [many].
// Similar images that are mislabelled together predict each other in centres, while heads have not learnt from
// them, since they looked wrong: with all images centres would be chosen and believe them (Omniglot, small clusters
// at 25 %: AP 0.810, 0.892 without the nearest).
//
// Heads also make mistakes likelier that they have learnt. So if classes are mistaken for each other, which the
// weight w of the channel of centres alone shows, the verdict is the logarithmic pool of the mixture, with weight
// 1, and of centres alone, with weight w.
func (b *bench) judgeCombined() error {
	if b.opts.Heads == nil {
		return errors.New("judges: combined needs the probabilities of heads")
	}
	f, own, err := b.newWhitenedField(true)
	if err != nil {
		return err
	}
	setting, _ := newLearner(b.ctx, f, nil, 0).sharpest()
	heads, err := b.newHeadField(f, setting.beta)
	if err != nil {
		return err
	}
	mixed := *f
	mixed.fit, mixed.tail = make([]float32, len(f.fit)), slices.Clone(f.tail)
	said := make([]float64, len(mixtures)) // log probability of a held-out label; 0: not tried
	var same slots                         // all mixtures have the same candidates
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
	alone, w := b.judgeWithChannel(f)
	b.v.Uneven = weighChannelGain(w)
	if best == 0 {
		return b.setVerdicts(f, alone)
	}
	mixed.mixFields(f, heads, mixtures[best])
	all, _ := b.judgeWithChannel(&mixed)
	all.addWeighted(alone, w)
	for _, list := range [][]float32{all.candidates, all.rest} {
		for i := range list {
			list[i] /= float32(1 + w)
		}
	}
	return b.setVerdicts(f, all)
}

// climbMixtures returns the likeliest mixture, by climbing from the best of three.
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

// alike is the log likelihood that heads must add, in nats a label, to replace centres, which withstand more mistakes.
// Without it heads judge alone on CIFAR-10 labelled by people, where both together find more (AP 0.942, 0.945).
const alike = 0.01

// tie is the least gain in log likelihood, in nats a label, above the rounding of heads that know nothing.
const tie = 1e-4

// mixture holds the weights of centres and heads.
type mixture struct{ centres, heads float32 }

// mixtures are those to try: the first without heads, the last without centres.
var mixtures = []mixture{{1, 0}, {1, 0.25}, {1, 0.5}, {1, 1}, {0.5, 1}, {0.25, 1}, {0, 1}}

func (m mixture) String() string {
	switch {
	case m.heads == 0:
		return "centres alone"
	case m.centres == 0:
		return "heads alone"
	case m.centres == m.heads:
		return "centres and heads alike"
	case m.centres > m.heads:
		return fmt.Sprintf("centres with heads at %.3g", m.heads)
	}
	return fmt.Sprintf("heads with centres at %.3g", m.centres)
}

// mixFields sets f's similarities to weighted sums of those of centres and heads, which have the same candidates.
func (f *field) mixFields(centres, heads *field, by mixture) {
	for i, v := range centres.fit {
		f.fit[i] = by.centres*v + by.heads*heads.fit[i]
	}
	for i := range f.tail {
		f.tail[i] = centres.tail[i].mixTails(by.centres, heads.tail[i], by.heads)
	}
}

// mixTails returns the tail of weighted sums of similarities that are fully correlated.
func (t tail) mixTails(weight float32, with tail, of float32) tail {
	deviation := float64(weight)*math.Sqrt(float64(t.variance)) + float64(of)*math.Sqrt(float64(with.variance))
	return tail{weight*t.mean + of*with.mean, float32(deviation * deviation), weight*t.least + of*with.least}
}

// newHeadField returns a field of log p/β for the candidates of f.
func (b *bench) newHeadField(f *field, beta float64) (*field, error) {
	h := *f
	h.fit, h.tail = make([]float32, len(f.fit)), slices.Clone(f.tail)
	at := make([]int, len(b.v.Order)) // of rows, in s
	for i, row := range b.s.Rows {
		at[row] = i
	}
	row, candidate, others := make([]float64, f.classes), make([]bool, f.classes), []int32(nil)
	said := make([]float32, f.n) // times that heads judged each image
	err := b.opts.Heads(func(z int, p []float64) {
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
