package glyphs

import (
	"math"
	"testing"
)

func TestTurnIsSineAndCosine(t *testing.T) {
	for angle := int64(-39000); angle <= 39000; angle += 100 {
		sin, cos := computeSineCosine(angle)
		wantSin, wantCos := math.Sincos(float64(angle) / (1 << 16))
		if d := max(math.Abs(float64(sin)/(1<<16)-wantSin), math.Abs(float64(cos)/(1<<16)-wantCos)); d > 1.0/(1<<13) {
			t.Fatalf("angle %d: sine %d and cosine %d are off by %.2g", angle, sin, cos, d)
		}
	}
}

// A rotated square of 10 pixels keeps its size and its centre.
func TestPlace(t *testing.T) {
	m := newPlacement(10*subpixel, 20000, 0, 1<<16, 16*subpixel, 12*subpixel)
	at := func(x, y int64) (float64, float64) {
		return float64((m.a*x+m.b*y)>>24+m.dx) / subpixel, float64((m.c*x+m.d*y)>>24+m.dy) / subpixel
	}
	x0, y0 := at(-unit/2, -unit/2)
	x1, y1 := at(unit/2, -unit/2)
	x2, y2 := at(unit/2, unit/2)
	if side := math.Hypot(x1-x0, y1-y0); math.Abs(side-10) > 0.02 {
		t.Errorf("a side of 10 pixels became %.3f", side)
	}
	if angle := math.Atan2(y1-y0, x1-x0); math.Abs(angle-20000.0/(1<<16)) > 0.002 {
		t.Errorf("turned by %.4f, expected %.4f", angle, 20000.0/(1<<16))
	}
	if x, y := (x0+x2)/2, (y0+y2)/2; math.Abs(x-16) > 0.01 || math.Abs(y-12) > 0.01 {
		t.Errorf("centre is (%.3f, %.3f), expected (16, 12)", x, y)
	}
}
