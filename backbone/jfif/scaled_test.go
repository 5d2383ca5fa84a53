package jfif

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"
)

// Samples of reduced blocks equal the means of the formula (A.3.3) over the pixels that they cover, to within one.
// With one wrong cosine they must not.
func TestReducedTransforms(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, side := range []int{4, 2, 1} {
		d := &decoder{side: side}
		wrong, spoiled := 0, 0
		for range 200 {
			var coefs [64]int16
			for i := range d.quant[0] {
				d.quant[0][i] = int32(1 + rng.IntN(20))
			}
			coefs[0] = int16(rng.IntN(400)-200) / int16(d.quant[0][0])
			for range rng.IntN(20) {
				i := rng.IntN(64)
				coefs[i] = int16(rng.IntN(200)-100) / int16(d.quant[0][i])
			}
			c := &component{side: side, stride: 2, plane: make([]byte, 2*side*side)}
			d.placeBlock(c, 1, 0, &coefs)
			for y := range side {
				for x := range side {
					if c.plane[2*side*y+x] != 0 {
						t.Fatal("wrote beyond its block")
					}
					got := float64(c.plane[2*side*y+side+x])
					if math.Abs(got-meanOf(&coefs, &d.quant[0], side, x, y, 0)) > 1.001 {
						wrong++
					}
					if math.Abs(got-meanOf(&coefs, &d.quant[0], side, x, y, 0.1)) > 1.001 {
						spoiled++
					}
				}
			}
		}
		if wrong > 0 || spoiled == 0 {
			t.Errorf("%d: %d samples differ from the means, %d from spoiled ones", side, wrong, spoiled)
		}
	}
}

// meanOf returns the mean of the pixels that sample x, y of a reduced block covers, within 0 … 255.
func meanOf(coefs *[64]int16, quant *[64]int32, side, x, y int, off float64) float64 {
	n, sum := 8/side, 0.0
	for v := range n {
		for u := range n {
			sum += unbounded(coefs, quant, n*x+u, n*y+v, off)
		}
	}
	return min(max(sum/float64(n*n), 0), 255)
}

// TestScaledSizes checks that sizes are rounded up, and that chroma is at least as fine as its ratio.
func TestScaledSizes(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {7, 9}, {8, 8}, {16, 17}, {160, 121}} {
		data := painted(t, size[0], size[1], 90)
		for _, by := range []int{1, 2, 4, 8} {
			img, err := DecodeScaled(data, by)
			if err != nil {
				t.Fatal(err)
			}
			if want := image.Rect(0, 0, divideUp(size[0], by), divideUp(size[1], by)); img.Bounds() != want {
				t.Errorf("%v by %d: found %v, expected %v", size, by, img.Bounds(), want)
			}
			m := img.(*image.YCbCr)
			last := m.Rect.Max.Sub(image.Pt(1, 1))
			if m.YOffset(last.X, last.Y) >= len(m.Y) || m.COffset(last.X, last.Y) >= len(m.Cb) {
				t.Errorf("%v by %d: planes of %d and %d samples", size, by, len(m.Y), len(m.Cb))
			}
			if by > 1 && m.SubsampleRatio != image.YCbCrSubsampleRatio444 {
				t.Errorf("by %d: chroma at %v", by, m.SubsampleRatio)
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for a reduction by 3")
		}
	}()
	DecodeScaled(painted(t, 8, 8, 90), 3)
}

// TestScaledCut checks that a truncated file is an error at reduced size as well.
func TestScaledCut(t *testing.T) {
	for name, data := range fixtures(t) {
		for n := range len(data) - 1 {
			if img, err := DecodeScaled(data[:n], 8); err == nil {
				t.Errorf("%s: %d of %d bytes gave %v", name, n, len(data), img.Bounds())
				break
			}
		}
	}
}
