package features

import (
	"math"
	"math/rand/v2"
	"testing"
)

// slowHalf rounds by arithmetic: the spacing of binary16 numbers at |v| is 2^(e-10), at least 2⁻²⁴.
func slowHalf(v float32) float64 {
	x := math.Abs(float64(v))
	_, e := math.Frexp(x) // x = f·2^e, ½ ≤ f < 1
	spacing := math.Ldexp(1, max(e-1, -14)-10)
	r := math.RoundToEven(x/spacing) * spacing
	if r > maxHalf {
		r = math.Inf(1)
	}
	return math.Copysign(r, float64(v))
}

func sameFloat(a, b float64) bool { return a == b && math.Signbit(a) == math.Signbit(b) }

// halfErrors counts values for which a conversion differs from slowHalf.
func halfErrors(convert func(float32) uint16) int {
	rng := rand.New(rand.NewPCG(1, 2))
	var list []float32
	for b := range 1 << 16 { // every binary16 number, both neighbours, and midpoints, which are ties
		v := widenHalf(uint16(b))
		if v != v {
			continue
		}
		next := widenHalf(uint16(b + 1))
		middle := float32((float64(v) + float64(next)) / 2)
		list = append(list, v, math.Nextafter32(v, 1e38), math.Nextafter32(v, -1e38), middle,
			math.Nextafter32(middle, 1e38), math.Nextafter32(middle, -1e38))
	}
	for range 200000 {
		list = append(list, math.Float32frombits(rng.Uint32()), float32(math.Ldexp(rng.NormFloat64(), rng.IntN(60)-40)))
	}
	list = append(list, 0, float32(math.Copysign(0, -1)), 65519.996, 65520, math.MaxFloat32,
		math.SmallestNonzeroFloat32)
	wrong := 0
	for _, v := range list {
		if v == v && !sameFloat(float64(widenHalf(convert(v))), slowHalf(v)) {
			wrong++
		}
	}
	return wrong
}

func TestHalf(t *testing.T) {
	for b := range 1 << 16 { // every binary16 number converts to itself, with subnormals, infinities and signs
		v := widenHalf(uint16(b))
		if v != v {
			if back := widenHalf(toHalf(v)); back == back {
				t.Errorf("%#04x is not a number and became %v", b, back)
			}
			continue
		}
		if got := toHalf(v); got != uint16(b) {
			t.Fatalf("%#04x is %v and came back as %#04x", b, v, got)
		}
	}
	if n := halfErrors(toHalf); n > 0 {
		t.Errorf("%d numbers were rounded otherwise than by arithmetic", n)
	}
	for name, twin := range map[string]func(float32) uint16{
		"cut off": func(v float32) uint16 { return toHalf(math.Float32frombits(math.Float32bits(v) &^ (1<<13 - 1))) },
		"ties upwards": func(v float32) uint16 {
			return toHalf(math.Float32frombits((math.Float32bits(v) + 1<<12) &^ (1<<13 - 1)))
		},
		"no subnormals": func(v float32) uint16 {
			if h := toHalf(v); h&0x7c00 != 0 {
				return h
			}
			return 0
		},
	} {
		if halfErrors(twin) == 0 {
			t.Errorf("%s: not noticed", name)
		}
	}
}
