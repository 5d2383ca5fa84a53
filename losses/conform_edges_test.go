package losses

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// checkOverwritten checks that Eval overwrites gradients that hold other numbers, and leaves a view's padding as it is.
func checkOverwritten(s subject) error {
	for _, in := range s.inputs(2, 40) {
		z, ref := in.sets()
		want, wantParams := evalFilled(s.build(), z, ref, 0, z.Dim())
		for _, stride := range []int{z.Dim(), z.Dim() + 3} {
			got, gotParams := evalFilled(s.build(), z, ref, 5, stride)
			if !slices.Equal(got, want) || !slices.Equal(gotParams, wantParams) {
				return fmt.Errorf("stride %d: the gradient depends on the numbers that it overwrites", stride)
			}
		}
		if !slices.ContainsFunc(want, func(v float32) bool { return v != 0 }) {
			return fmt.Errorf("the gradient of an ordinary batch is zero")
		}
	}
	return nil
}

func evalFilled(l Loss, z features.Set, ref *features.Set, fill float32, stride int) (grad, params []float32) {
	g := blas32.General{Rows: z.Len(), Cols: z.Dim(), Stride: stride, Data: make([]float32, z.Len()*stride)}
	for i := range g.Data {
		g.Data[i] = fill
	}
	if owner, ok := l.(Trainable); ok {
		for _, p := range owner.Params() {
			for i := range p.Grad {
				p.Grad[i] = fill
			}
		}
	}
	l.Eval(&g, z, ref)
	for i := range g.Rows {
		grad = append(grad, features.Row(g, i)...)
		for _, v := range g.Data[i*stride+z.Dim() : (i+1)*stride] {
			if v != fill {
				grad = append(grad, v) // Eval wrote outside the view: a changed length makes the check fail
			}
		}
	}
	if owner, ok := l.(Trainable); ok {
		for _, p := range owner.Params() {
			params = append(params, p.Grad...)
		}
	}
	return grad, params
}

// checkDegenerate checks that degenerate inputs give finite values and gradients.
func checkDegenerate(s subject) error {
	whole := conformInput(8, 40)
	oneClass := whole
	oneClass.labels = make([]int, 40)
	distinct := conformInput(9, conformClasses)
	for i := range distinct.labels {
		distinct.labels[i] = i
	}
	twins := conformInput(10, 12)
	for i := range 6 {
		twins.z[i+6], twins.labels[i+6] = twins.z[i], twins.labels[i]
	}
	opposite := conformInput(11, 2)
	opposite.z[1] = slices.Clone(opposite.z[0])
	for k := range opposite.z[1] {
		opposite.z[1][k] *= -1
	}
	one := conformInput(12, 1)
	for name, in := range map[string]exactInput{"one class": oneClass, "distinct labels": distinct, "equal rows": twins,
		"opposite rows": opposite, "one row": one} {
		for _, in := range withBank(s, in) {
			l := s.build()
			loss, grad := public(l, in)
			if bad := notFinite(loss, grad, l); bad != "" {
				return fmt.Errorf("%s: %s", name, bad)
			}
		}
	}
	return checkNothing(s, one)
}

func withBank(s subject, in exactInput) []exactInput {
	if !s.takesBank() {
		return []exactInput{in}
	}
	bank := in
	bank.ref, bank.refIDs, bank.bankIDs = in.z, in.labels, in.ids // equal rows everywhere
	return []exactInput{in, bank}
}

func notFinite(loss float64, grad [][]float64, l Loss) string {
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return fmt.Sprintf("value %v", loss)
	}
	for i := range grad {
		for _, v := range grad[i] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Sprintf("gradient of row %d is %v", i, v)
			}
		}
	}
	if owner, ok := l.(Trainable); ok {
		for _, p := range owner.Params() {
			if bad := notFinite(0, widen64(p.Grad, p.Cols), nil); bad != "" {
				return p.Name + ": " + bad
			}
		}
	}
	return ""
}

// checkNothing checks that value and gradients are 0 without rows, without a reference and without pairs.
func checkNothing(s subject, one exactInput) error {
	empty := features.Set{X: features.NewMatrix(0, conformDim), Labels: []int{}, IDs: []int{}}
	z, _ := one.sets()
	tries := []struct {
		name string
		z    features.Set
		ref  *features.Set
	}{{"an empty batch", empty, nil}}
	if s.takesBank() {
		tries = append(tries, tries[0], tries[0], tries[0])
		tries[1].name, tries[1].z = "a single row", z
		tries[2].name, tries[2].z, tries[2].ref = "an empty bank", z, &empty
		tries[3].name, tries[3].ref = "an empty batch and a bank", &z
	}
	for _, try := range tries {
		l := s.build()
		g := features.NewMatrix(try.z.Len(), conformDim)
		for i := range g.Data {
			g.Data[i] = 7
		}
		value := l.Eval(&g, try.z, try.ref)
		sum := math.Abs(value)
		for _, v := range g.Data {
			sum += math.Abs(float64(v))
		}
		if owner, ok := l.(Trainable); ok {
			for _, p := range owner.Params() {
				for _, v := range p.Grad {
					sum += math.Abs(float64(v))
				}
			}
		}
		if sum != 0 {
			return fmt.Errorf("%s: value %v and gradient %v, expected zeros", try.name, value, g.Data)
		}
	}
	return nil
}

// checkNaN checks that a single NaN or infinite number makes the value NaN: a comparison must not hide it.
func checkNaN(s subject) error {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		for _, in := range s.inputs(18, 20) {
			z, ref := in.sets()
			z.Row(7)[3] = float32(bad)
			grad := features.NewMatrix(z.Len(), z.Dim())
			if v := s.build().Eval(&grad, z, ref); !math.IsNaN(v) || !math.IsNaN(float64(grad.Data[7*z.Dim()])) {
				return fmt.Errorf("a row with %v: value %v, gradient %v, expected NaN", bad, v, grad.Data[7*z.Dim()])
			}
		}
	}
	return nil
}
