package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/features"
)

func TestPrecisionAt1AndAUROC(t *testing.T) {
	// Two tight classes of three and a straggler that lies with the others.
	s := features.NewSet(6, 2)
	for i, angle := range []float64{0, 0.1, 1.5, 1.4, 1.6, 1.75} {
		s.X.Data[2*i], s.X.Data[2*i+1] = float32(math.Cos(angle)), float32(math.Sin(angle))
	}
	s.Labels = []int{0, 0, 0, 1, 1, 1}
	if p, err := precisionAt1(s); err != nil || p != 0.5 {
		t.Errorf("%v: P@1 is %v, expected 3 of 6: the straggler takes two neighbours with it", err, p)
	}
	tight := features.NewSet(400, 8)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 400 {
		tight.Labels[i] = i % 8
		for k := range 8 {
			tight.X.Data[i*8+k] = 0.01 * float32(rng.NormFloat64())
		}
		tight.X.Data[i*8+i%8] += 1
	}
	if err := features.Normalize(tight.X); err != nil {
		t.Fatal(err)
	}
	if a, err := noiseAUROC(tight, 0.5, 1); err != nil || a < 0.999 {
		t.Errorf("%v: AUROC on separate classes is %v", err, a)
	}
	for i := range tight.X.Data {
		tight.X.Data[i] = float32(rng.NormFloat64())
	}
	if err := features.Normalize(tight.X); err != nil {
		t.Fatal(err)
	}
	if a, err := noiseAUROC(tight, 0.5, 1); err != nil || a < 0.4 || a > 0.6 {
		t.Errorf("%v: AUROC on vectors without classes is %v, expected about 0.5", err, a)
	}
}
