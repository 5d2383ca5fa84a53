package judges

import (
	"math"

	"winnow/filters"
	"winnow/filters/leaveout"
)

const (
	rounds   = 3    // turns of purification
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

// purify judges labels and classes in turn, the labels last. A turn is expectation maximisation of
//
//	P(k|x_i) ∝ exp(β t_ik),   P(y|k) = 1 - ρ if y = k, else ρ/(C - 1)
//	r_ik ∝ P(k|x_i) P(y_i|k),   Σ_k = Σ_j r_jk z_j
//
// with t the model's fit of image i to class k, which leaves the image out of each sum that it is in. That alone does
// not keep an image out of its own judgement: its label drew a class towards it, and what lies near was weighed by
// that class. So the images are parted into folds, and those of a fold are judged by classes that were purified
// without them, β and ρ being those under which the fold's labels are likeliest; within, they are those of the given
// labels, which flatter nobody. A label's score is r_iy, which is a probability if mistakes go to all classes alike;
// the order is its log odds.
func (b *bench) purify(m model) error {
	folds := b.folds()
	given := make([][]leaveout.Part, b.s.Z.Len())
	for i := range given {
		given[i] = b.s.Parts(i)
	}
	final := make([][]leaveout.Part, len(given))
	for f := range b.opts.Folds {
		out := func(i int) bool { return folds[i] == f }
		if err := b.purifyWithout(m, rounds, given, out); err != nil {
			return err
		}
		fit := m(b.s)
		b.conclude(fit, calibrate(b.s, fit, out), out, final)
	}
	b.s.Share(final)
	return nil
}

// centres judges as purify does by the classes of the given labels, each sum without the image: no turn, no folds. The
// classes are left as the verdicts have them.
func (b *bench) centres() error {
	final := make([][]leaveout.Part, b.s.Z.Len())
	fit := alike(b.s)
	b.conclude(fit, calibrate(b.s, fit, nil), func(int) bool { return true }, final)
	b.s.Share(final)
	return b.ctx.Err()
}

// purifyWithout leaves the classes purified without the images of out.
func (b *bench) purifyWithout(m model, turns int, given [][]leaveout.Part, out func(i int) bool) error {
	parts := make([][]leaveout.Part, len(given))
	for i := range parts {
		if !out(i) {
			parts[i] = given[i]
		}
	}
	b.s.Share(parts)
	c := calibrate(b.s, m(b.s), func(i int) bool { return !out(i) })
	for range turns {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		fit, next := m(b.s), make([][]leaveout.Part, len(given))
		b.s.Each(func(i, y int, row []float64) {
			if !out(i) {
				fit(i, row)
				c.posterior(row, y)
				next[i] = shares(row)
			}
		})
		b.s.Share(next)
	}
	return nil
}

// conclude notes the verdicts on the images that count, and their shares in the classes.
func (b *bench) conclude(fit func(int, []float64), c calibration, counts func(i int) bool, final [][]leaveout.Part) {
	b.s.Each(func(i, y int, row []float64) {
		if counts(i) {
			fit(i, row)
			b.sayRow(i, y, c.posterior(row, y), row)
			final[i] = shares(row)
		}
	})
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
