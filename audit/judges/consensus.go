package judges

import (
	"context"
	"math"
	"slices"

	"winnow/eval"
)

const (
	mostMatrix = 100 // most classes with a full matrix
	mostSteps  = 500 // of a fit
	settled    = 1e-6
)

// wrongShares returns for each column the share of its labels that are wrong, 1 - P(true k | given k), by HOC: an
// image and its two nearest are assumed to be of the same class, each mislabelled independently, so that the
// agreement of pairs and triples of labels determines
//
//	P(a)       = Σ_l p_l T_la
//	P(a, b)    = Σ_l p_l T_la T_lb
//	P(a, b, c) = Σ_l p_l T_la T_lb T_lc
//
// where p_l is the share of class l and T_la the probability that an image of it is called a. Above 100 classes,
// most of the C² numbers of T would depend on no image; then every class has the same share ρ of wrong labels,
// spread evenly over the others.
//
// Differs from the paper: p and T maximise the likelihood of the triples, by expectation maximisation,
// instead of minimising squared differences from the counts. Triples contain the counts of singles and pairs,
// no table of C³ counts is needed, and there is no learning rate. Time O(n·C) a step; memory O(n + C²).
// Source: Zhu, Song & Liu, "Clusterability as an Alternative to Anchor Points When Learning with Noisy
// Labels", ICML 2021 (HOC), equations 5 to 7.
func (b *bench) wrongShares(near [][]eval.Neighbour) ([]float64, error) {
	column := b.columns()
	var triples [][3]int
	for i, list := range near {
		if len(list) >= 2 {
			triples = append(triples, [3]int{column[i], column[list[0].Row], column[list[1].Row]})
		}
	}
	c := len(b.s.Classes)
	if c > mostMatrix {
		return oneRate(b.ctx, triples, c)
	}
	t, err := fitTransition(b.ctx, triples, c)
	return t.wrong(), err
}

// transition is the model of how labels are given.
type transition struct {
	prior []float64 // p
	given []float64 // T, a row for each true class
}

// wrong returns for each given label the share that is wrong.
func (t transition) wrong() []float64 {
	c := len(t.prior)
	share := make([]float64, c)
	for k := range share {
		var all float64
		for l, p := range t.prior {
			all += p * t.given[l*c+k]
		}
		if all > 0 {
			share[k] = 1 - t.prior[k]*t.given[k*c+k]/all
		}
	}
	return share
}

// fitTransition fits p and T, starting from 30 % wrong labels.
func fitTransition(ctx context.Context, triples [][3]int, c int) (transition, error) {
	t := transition{make([]float64, c), make([]float64, c*c)}
	for l := range c {
		t.prior[l] = 1 / float64(c)
		for a := range c {
			t.given[l*c+a] = 0.3 / float64(c-1)
		}
		t.given[l*c+l] = 0.7
	}
	q := make([]float64, c)
	before := math.Inf(-1)
	for range mostSteps {
		if err := ctx.Err(); err != nil {
			return t, err
		}
		next := transition{make([]float64, c), make([]float64, c*c)}
		likelihood := 0.0
		for _, of := range triples {
			var all float64
			for l := range q {
				row := t.given[l*c:][:c]
				q[l] = t.prior[l] * row[of[0]] * row[of[1]] * row[of[2]]
				all += q[l]
			}
			likelihood += math.Log(math.Max(all, 1e-300))
			for l, v := range q {
				v /= math.Max(all, 1e-300)
				next.prior[l] += v
				for _, a := range of {
					next.given[l*c+a] += v
				}
			}
		}
		for l, weight := range next.prior {
			row := next.given[l*c:][:c]
			if weight < 1e-9 { // the class has no image
				copy(row, t.given[l*c:][:c])
				continue
			}
			for a := range row {
				row[a] /= 3 * weight
			}
			next.prior[l] = weight / float64(len(triples))
		}
		t = next
		if likelihood-before < settled*float64(len(triples)) {
			break
		}
		before = likelihood
	}
	return t, nil
}

// oneRate fits p and one ρ, T_la = 1 - ρ if a = l, else ρ/(C - 1), and returns for each given label the share
// that is wrong.
func oneRate(ctx context.Context, triples [][3]int, c int) ([]float64, error) {
	prior, rate := make([]float64, c), 0.3
	for l := range prior {
		prior[l] = 1 / float64(c)
	}
	for range mostSteps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next, all, mistakes := make([]float64, c), 0.0, 0.0
		odds := (1 - rate) * float64(c-1) / math.Max(rate, 1e-12) // of the label of the class against another label
		for _, of := range triples {
			// Relative to the prior, a class gains the factor odds for each label that agrees.
			var more, times [3]float64
			sum := 1.0
			for j, l := range of {
				if slices.Contains(of[:j], l) {
					continue
				}
				for _, a := range of {
					if a == l {
						times[j]++
					}
				}
				more[j] = prior[l] * (math.Pow(odds, times[j]) - 1)
				sum += more[j]
			}
			all += 1 / sum
			mistakes += 3
			for j, l := range of {
				next[l] += more[j] / sum
				mistakes -= times[j] * (prior[l] + more[j]) / sum
			}
		}
		n := float64(len(triples))
		moved := 0.0
		for l := range next {
			v := math.Max(next[l]+all*prior[l], 0) / n
			moved += math.Abs(v - prior[l])
			prior[l] = v
		}
		before := rate
		rate = mistakes / (3 * n)
		if moved+math.Abs(rate-before) < settled {
			break
		}
	}
	share := make([]float64, c)
	for l, p := range prior {
		wrong := (1 - p) * rate / float64(c-1)
		if all := p*(1-rate) + wrong; all > 0 {
			share[l] = wrong / all
		}
	}
	return share, nil
}
