package judges

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"winnow/eval"
	"winnow/features"
)

// headsOf returns a substitute for heads: the softmax over the cosines to the class centres of the other half.
func headsOf(z features.Set, classes int) func(do func(row int, p []float64)) error {
	return func(do func(row int, p []float64)) error {
		count, column, columns := make([]int, classes), make([]int, classes), 0
		for _, y := range z.Labels {
			if y >= 0 {
				count[y]++
			}
		}
		for k, n := range count {
			if column[k] = -1; n >= 2 {
				column[k] = columns
				columns++
			}
		}
		for half := range 2 {
			sums := make([][]float64, columns)
			for k := range sums {
				sums[k] = make([]float64, z.Dim())
			}
			for i, y := range z.Labels {
				if i%2 != half && y >= 0 && column[y] >= 0 {
					for j, v := range z.Row(i) {
						sums[column[y]][j] += float64(v)
					}
				}
			}
			for i, y := range z.Labels {
				if i%2 == half && y >= 0 && column[y] >= 0 {
					p := make([]float64, columns)
					for k := range p {
						var dot, a, b float64
						for j, v := range z.Row(i) {
							dot += float64(v) * sums[k][j]
							a += float64(v) * float64(v)
							b += sums[k][j] * sums[k][j]
						}
						p[k] = 12 * dot / math.Sqrt(a*b+1e-12)
					}
					features.Softmax(p, p)
					do(i, p)
				}
			}
		}
		return nil
	}
}

// Uninformative heads do not change the result. Heads that predict the true class get a large weight, even if most
// classes are not candidates.
func TestCombinedWeighs(t *testing.T) {
	for _, classes := range []int{32, 2 * mostOf} {
		z, truth := fine(3, 0.3)
		if classes > 32 { // more classes than candidates: each of the 32 gets several names
			rng := rand.New(rand.NewPCG(1, 9))
			z = z.Rows(append(features.AllRows(z.Len()), features.AllRows(z.Len())...))
			truth = append(slices.Clone(truth), truth...)
			for i := range z.Labels {
				part := rng.IntN(classes / 32)
				if truth[i] == z.Labels[i] {
					z.Labels[i] += 32 * part
				} else {
					z.Labels[i] += 32 * rng.IntN(classes/32)
				}
				truth[i] += 32 * part
				for j := range z.Dim() {
					z.Row(i)[j] += float32(part) * float32(math.Sin(float64(part*j)))
				}
			}
		}
		ask := func(name string, heads func(do func(row int, p []float64)) error) (Verdict, float64) {
			v, err := Ask(context.Background(), z, classes, name, Options{Rand: rand.New(rand.NewPCG(1, 2)),
				Heads: heads})
			if err != nil {
				t.Fatal(err)
			}
			wrong := make([]bool, z.Len())
			for i, y := range truth {
				wrong[i] = y != z.Labels[i]
			}
			d, err := eval.Detect(v.Order, wrong, make([]bool, z.Len()))
			if err != nil {
				t.Fatal(err)
			}
			return v, d.AUROC
		}
		fitted, before := ask(Fitted, nil)
		columns := len(fitted.Classes.Classes)
		guess, _ := ask(Combined, func(do func(row int, p []float64)) error {
			for _, i := range fitted.Classes.Rows {
				p := make([]float64, columns)
				for k := range p {
					p[k] = 1 / float64(columns)
				}
				do(i, p)
			}
			return nil
		})
		if !slices.Equal(guess.Order, fitted.Order) {
			t.Errorf("%d classes: uninformative heads changed the order: %s", classes, guess.Why)
		}
		know, after := ask(Combined, func(do func(row int, p []float64)) error {
			for _, i := range fitted.Classes.Rows {
				p := make([]float64, columns)
				for k := range p {
					p[k] = 0.1 / float64(columns)
				}
				if k := fitted.Classes.Column[truth[i]]; k >= 0 {
					p[k] += 0.9
				}
				do(i, p)
			}
			return nil
		})
		t.Logf("%d classes: AUROC %.4f, with informative heads %.4f; %s", classes, before, after, know.Why)
		if after < (1+before)/2 || strings.HasPrefix(know.Why, "centres only") ||
			!strings.HasPrefix(guess.Why, "centres only") {
			t.Errorf("%d classes: AUROC %.4f, %.4f; took %s; %s", classes, before, after, guess.Why, know.Why)
		}
	}
	z, _ := fine(1, 0.2)
	if _, err := Ask(context.Background(), z, 32, Combined, Options{Rand: rand.New(rand.NewPCG(1, 2))}); err == nil {
		t.Error("combined ran without heads")
	}
}

// Pairs of similar images share a label, right or wrong, so they predict each other through centres. Heads that are as
// accurate as centres, but do not repeat these mistakes, are still chosen.
func TestCombinedSparesTheNearest(t *testing.T) {
	once, truth := fine(4, 0.25)
	n := once.Len()
	z := once.Rows(append(features.AllRows(n), features.AllRows(n)...))
	truth = append(slices.Clone(truth), truth...)
	rng := rand.New(rand.NewPCG(4, 1))
	for i := n; i < 2*n; i++ {
		for j := range z.Dim() {
			z.Row(i)[j] += float32(0.5 * rng.NormFloat64())
		}
	}
	heads := func(do func(row int, p []float64)) error {
		rng := rand.New(rand.NewPCG(4, 2))
		for i, y := range truth {
			if rng.IntN(4) == 0 { // the heads confuse the class
				y = rng.IntN(32)
			}
			p := make([]float64, 32)
			for k := range p {
				p[k] = 0.75 / 32
			}
			p[y] += 0.25
			do(i, p)
		}
		return nil
	}
	v, err := Ask(context.Background(), z, 32, Combined, Options{Rand: rand.New(rand.NewPCG(1, 2)), Heads: heads})
	if err != nil {
		t.Fatal(err)
	}
	wrong := make([]bool, 2*n)
	for i, y := range truth {
		wrong[i] = y != z.Labels[i]
	}
	d, err := eval.Detect(v.Order, wrong, make([]bool, 2*n))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("AUROC %.4f: %s", d.AUROC, v.Why)
	if !strings.HasPrefix(v.Why, "heads") || d.AUROC < 0.997 { // with the nearest: equal weights, 0.9958
		t.Errorf("AUROC %.4f, took %s", d.AUROC, v.Why)
	}
}
