package losses

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestExponentials(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	v := []float64{0, 1, -1, 700, -700, 699.999, -699.999, 709, -745, -800, 1e-300, -1e-18, math.Ln2, -math.Ln2 / 128, math.Ln2 / 128,
		math.Inf(-1), math.Copysign(0, -1)}
	for range 200000 {
		v = append(v, 1400*rng.Float64()-700, 40*rng.Float64()-40, rng.NormFloat64())
	}
	for k := range 2000 {
		v = append(v, float64(k-1000)*math.Ln2/128, math.Nextafter(float64(k-1000)*math.Ln2/128, 1000)) // where rounding turns
	}
	dst := make([]float64, len(v))
	exponentials(dst, v, 0, 1)
	for i, x := range v {
		if want := math.Exp(x); math.Abs(dst[i]-want) > 1e-15*want {
			t.Fatalf("e^%v: %v, expected %v", x, dst[i], want)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), 710} {
		if exponentials(dst[:1], []float64{bad}, 0, 1); fmt.Sprint(dst[0]) != fmt.Sprint(math.Exp(bad)) {
			t.Errorf("e^%v: %v", bad, dst[0])
		}
	}
	three := []float64{3, math.Inf(-1), 5}
	if sum := exponentials(three, three, 5, 0.5); !near(sum, 1+math.Exp(-1), 1e-15, 0) || three[1] != 0 || three[2] != 1 {
		t.Errorf("sum %v of %v", sum, three)
	}
}

func BenchmarkExponentials(b *testing.B) {
	v, dst := make([]float64, 1024), make([]float64, 1024)
	for i := range v {
		v[i] = -float64(i%97) / 7
	}
	b.Run("exponentials", func(b *testing.B) {
		for b.Loop() {
			exponentials(dst, v, 0, 1)
		}
	})
	b.Run("math.Exp", func(b *testing.B) {
		for b.Loop() {
			for i, x := range v {
				dst[i] = math.Exp(x)
			}
		}
	})
}
