package judges

import (
	"context"
	"fmt"
	"math"

	"winnow/features"
	"winnow/filters/leaveout"
)

// Proto is an experiment.
func Proto(ctx context.Context, z features.Set, classes int, logp []float32, opts Options, do func(name string, o Opinion)) error {
	opts.Neighbours, opts.Folds = 10, 5
	s, err := leaveout.New(z, classes)
	if err != nil {
		return err
	}
	b := &bench{ctx: ctx, s: s, opts: opts, once: &shared{}, v: Verdict{Classes: s, Opinion: Undecided(z.Labels)}}
	f, err := b.whitened()
	if err != nil {
		return err
	}
	base := append([]float32(nil), f.fit...)
	folds := b.folds()
	c := len(s.Classes)
	l0 := newLearner(ctx, f, folds, opts.Folds)
	p0, v0 := l0.sharpest()
	fmt.Printf("# beta %.2f likelihood %.4f\n", p0.beta, v0)
	for _, v := range [][2]float64{{1, 0}, {0, 1}, {1, .25}, {1, .5}, {1, 1}, {.5, 1}, {.25, 1}} {
		for i := range f.n {
			for j := range f.m {
				f.fit[i*f.m+j] = float32(v[0])*base[i*f.m+j] + float32(v[1]/p0.beta)*logp[s.Rows[i]*c+int(f.column[i*f.m+j])]
			}
		}
		l := newLearner(ctx, f, folds, opts.Folds)
		plain, without := l.sharpest()
		learned, with := l.choose(plain, without)
		w := (with - without) / (with - without + believed)
		for k, ww := range []float64{0, w} {
			pooled, rest := make([]float32, f.n*f.m), make([]float32, f.n)
			for _, part := range []struct {
				setting
				weight float64
			}{{plain, 1 - ww}, {learned, ww}} {
				if part.weight == 0 {
					continue
				}
				l.posteriors(part.setting, func(i int, r []float64, others float64) {
					for j, v := range r {
						pooled[i*f.m+j] += float32(part.weight * math.Log(math.Max(v, 1e-300)))
					}
					rest[i] += float32(part.weight * math.Log(math.Max(others, 1e-300)))
				})
			}
			b.v = Verdict{Classes: s, Opinion: Undecided(z.Labels)}
			b.concludeField(f, pooled, rest)
			do(fmt.Sprintf("t%.2f h%.2f %s beta %.2f L %.4f", v[0], v[1], []string{"plain", "chan "}[k], plain.beta/p0.beta, []float64{without, with}[k]), b.v.Opinion)
		}
	}
	return nil
}
