package judges

import (
	"math"

	"winnow/filters"
	"winnow/filters/leaveout"
)

const (
	rounds   = 10   // most turns of purification
	settled  = 1e-3 // mean change of a label's probability that ends them
	mostPart = 4    // classes that an image may have a share in
	leastOf  = 0.02 // smallest share that counts
)

// model turns an image's similarities to the classes, in place, into what fits the classes best; [calibration] finds
// the common factor.
type model func(s *leaveout.Set) func(i int, row []float64)

// alike leaves similarities as they are: all classes are equally wide.
func alike(*leaveout.Set) func(int, []float64) { return func(int, []float64) {} }

// vonMisesFisher gives each class a concentration of its own, by its images' spread, which is corrected for their
// number: (log C_D(κ_k) + κ_k s_ik)/κ, κ the classes' mean. The classes an image has a share in are fitted without it.
func vonMisesFisher(s *leaveout.Set) func(i int, row []float64) {
	d := s.Z.Dim()
	fit := func(p leaveout.Spread) (kappa, logC float64) {
		r := filters.Debiased(p.Length, max(2, int(math.Round(p.Count))))
		kappa = filters.Kappa(d, r, filters.KappaBanerjee, filters.DefaultLimits())
		return kappa, filters.LogNormalizer(d, kappa)
	}
	kappa, logC, mean := make([]float64, len(s.Classes)), make([]float64, len(s.Classes)), 0.0
	for k := range kappa {
		kappa[k], logC[k] = fit(s.Spread(k))
		mean += kappa[k] / float64(len(kappa))
	}
	mean = math.Max(mean, 1e-9)
	return func(i int, row []float64) {
		own := s.Parts(i)
		for k, v := range row {
			row[k] = (logC[k] - logC[0] + kappa[k]*v) / mean
			for _, p := range own {
				if p.Column == k {
					kappaI, logI := fit(s.SpreadWithout(i, p))
					row[k] = (logI - logC[0] + kappaI*v) / mean
				}
			}
		}
	}
}

// purify judges labels and classes in turn, the labels last. It is expectation maximisation of
//
//	P(k|x_i) ∝ exp(β t_ik),   P(y|k) = 1 - ρ if y = k, else ρ/(C - 1)
//	r_ik ∝ P(k|x_i) P(y_i|k),   Σ_k = Σ_j r_jk z_j
//
// with t the model's fit of image i to class k, which leaves the image out of each sum that it is in. β and ρ are
// those under which the given labels are likeliest. A label's score is r_iy, which is a probability if mistakes go to
// all classes alike; the order is its log odds. No turns: the centres of the given labels.
func (b *bench) purify(m model, turns int) error {
	for turn := 0; ; turn++ {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		fit := m(b.s)
		c := calibrate(b.s, fit)
		parts, change := make([][]leaveout.Part, b.s.Z.Len()), 0.0
		b.s.Each(func(i, y int, row []float64) {
			fit(i, row)
			order := c.posterior(row, y)
			change += math.Abs(row[y] - b.v.Score[b.s.Rows[i]])
			b.sayRow(i, y, order, row)
			parts[i] = shares(row)
		})
		if turn == turns || change < settled*float64(b.s.Z.Len()) {
			return nil
		}
		b.s.Share(parts)
	}
}

// shares are the largest entries of a row that count, in the order of the columns.
func shares(row []float64) []leaveout.Part {
	var list []leaveout.Part
	for k, v := range row {
		if v < leastOf {
			continue
		}
		if len(list) < mostPart {
			list = append(list, leaveout.Part{Column: k, Weight: v})
			continue
		}
		least := 0
		for j, p := range list {
			if p.Weight < list[least].Weight {
				least = j
			}
		}
		if v > list[least].Weight {
			list = append(append(list[:least:least], list[least+1:]...), leaveout.Part{Column: k, Weight: v})
		}
	}
	return list
}
