package backbone

import (
	"bytes"
	"image"
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/backbone/jfif"
)

// inBothWays returns the results of a function with and without vector instructions.
func inBothWays[T any](t testing.TB, f func() []T) (vectored, plain []T) {
	t.Helper()
	if !avx2 {
		t.Skip("this processor has no AVX2")
	}
	defer func() { avx2 = true }()
	vectored = slices.Clone(f())
	avx2 = false
	return vectored, slices.Clone(f())
}

// compareKernels runs every kernel on the same numbers with both implementations.
func compareKernels(t *testing.T, seed uint64, n int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			if b[i] = byte(rng.Uint32()); seed%4 == 0 { // extreme values
				b[i] = byte(int8(b[i]) >> 7)
			}
		}
		return b
	}
	same := func(what string, vectored, plain any, equal bool) {
		t.Helper()
		if !equal {
			t.Errorf("%s of %d (seed %d): found %v, expected %v", what, n, seed, vectored, plain)
		}
	}
	cb, cr, luma := random(2*n), random(2*n), random(n)
	for _, v := range []struct{ bias, shift uint32 }{{0, 0}, {0, 2}, {twoLanes, 2}, {2 * twoLanes, 2}} {
		p := planes{img: &image.YCbCr{Cb: cb, Cr: cr, CStride: n}}
		a, b := inBothWays(t, func() []uint32 {
			out := make([]uint32, n)
			p.weighChroma(out, 0, 1, 0, v.bias, uint(v.shift))
			return out
		})
		same("weigh", a, b, slices.Equal(a, b))
	}
	for x0 := range min(n, 4) {
		img := &image.YCbCr{Cb: cb, Cr: cr, CStride: n, Rect: image.Rect(0, 0, 2*n-x0%2, 2),
			SubsampleRatio: image.YCbCrSubsampleRatio420}
		p := newPlanes(img)
		a, b := inBothWays(t, func() []uint32 {
			p.sum = make([]uint32, p.cw+2)
			out := make([]uint32, p.w-x0)
			p.doubleColumns(out, 0, 1, x0, 8*twoLanes, 7*twoLanes)
			return out
		})
		same("triangle", a, b, slices.Equal(a, b))
	}
	uv := make([]uint32, n)
	for i := range uv {
		uv[i] = uint32(cb[i]) | uint32(cr[i])<<16
	}
	rgb, rgbPlain := inBothWays(t, func() []byte {
		out := make([]byte, 3*n)
		toRGB(out, luma, uv)
		return out
	})
	same("toRGB", rgb, rgbPlain, bytes.Equal(rgb, rgbPlain))
	compareResampling(t, rng, n, random, same)
}

// compareResampling uses windows and weights of any kind, even those of no real filter.
func compareResampling(t *testing.T, rng *rand.Rand, n int, random func(int) []byte,
	same func(string, any, any, bool)) {
	t.Helper()
	line := random(3 * n)
	for _, width := range []int{1, 3, 4, 8, 12} {
		if width > n {
			continue
		}
		across := taps{width: width, start: make([]int, 1+rng.IntN(n)), weights: nil}
		for i := range across.start {
			across.start[i] = 5 + rng.IntN(n-width+1)
		}
		slices.Sort(across.start)
		for range width * len(across.start) {
			across.weights = append(across.weights, int32(rng.Uint32())>>rng.IntN(16))
		}
		a, b := inBothWays(t, func() []byte {
			out := make([]byte, 3*len(across.start))
			resampleRow(out, line, 5, &across)
			return out
		})
		same("resampleRow", a, b, bytes.Equal(a, b))
	}
	rows, w := [group][]byte{random(n), random(n), random(n), random(n)}, [group]int32{}
	for i := range w {
		w[i] = int32(rng.Uint32()) >> rng.IntN(16)
	}
	for _, begin := range []bool{true, false} {
		a, b := inBothWays(t, func() []int32 {
			sum := make([]int32, n)
			for i := range sum {
				sum[i] = int32(i) << 20
			}
			resampleColumns(sum, &rows, &w, begin)
			return sum
		})
		same("resampleColumns", a, b, slices.Equal(a, b))
	}
}

func TestVectorKernels(t *testing.T) {
	for n := 1; n < 100; n++ {
		for seed := range uint64(8) {
			compareKernels(t, seed, n)
		}
	}
}

func FuzzVectorKernels(f *testing.F) {
	f.Add(uint64(1), uint16(33))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16) { compareKernels(t, seed, 1+int(n)%3000) })
}

// Every pair of chroma samples with every eighth luma is converted with both implementations.
func TestVectorColours(t *testing.T) {
	uv, luma := make([]uint32, 256*256), make([]byte, 256*256)
	for i := range uv {
		uv[i] = uint32(i&255) | uint32(i>>8)<<16
	}
	for y := 0; y < 256; y += 8 {
		for i := range luma {
			luma[i] = byte(y + i%8)
		}
		a, b := inBothWays(t, func() []byte {
			out := make([]byte, 3*len(uv))
			toRGB(out, luma, uv)
			return out
		})
		if !bytes.Equal(a, b) {
			t.Fatalf("luma from %d: colours differ", y)
		}
	}
}

// A whole photograph is preprocessed with both implementations.
func TestVectorsOnAPhotograph(t *testing.T) {
	img, err := jfif.DecodeScaled(photographJPEG(t, 501, 377, 1), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Preprocessing{imageNet, with("bicubic", imageNet), with("lanczos", imageNet)} {
		q, err := NewPreprocessor(p)
		if err != nil {
			t.Fatal(err)
		}
		a, b := inBothWays(t, func() []float32 {
			dst := make([]float32, p.Size())
			if err := q.Into(dst, img); err != nil {
				t.Fatal(err)
			}
			return dst
		})
		if !slices.Equal(a, b) {
			t.Errorf("%s: pixels differ", p.Interpolation)
		}
	}
}

func with(interpolation string, p Preprocessing) Preprocessing {
	p.Interpolation = interpolation
	return p
}
