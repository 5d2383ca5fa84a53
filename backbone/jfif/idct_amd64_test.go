package jfif

import (
	"encoding/binary"
	"image"
	"math/rand/v2"
	"reflect"
	"testing"
)

// transforms lists the transforms that exist in Go and in AVX2.
var transforms = []struct {
	side     int
	plain    func([]byte, int, *[64]int16, *[64]int32)
	vectored func(*byte, int, *[64]int16, *[64]int32)
}{{8, invertDCT, idctAVX2}, {4, idct4, idct4AVX2}}

// compareTransforms transforms a block with both implementations and checks that memory next to the block is unchanged.
func compareTransforms(t *testing.T, coefs *[64]int16, quant *[64]int32) {
	t.Helper()
	for _, f := range transforms {
		const stride = 11
		var want, got [9 * stride]byte
		for i := range want {
			want[i], got[i] = 0xa5, 0xa5
		}
		f.plain(want[:], stride, coefs, quant)
		f.vectored(&got[0], stride, coefs, quant)
		if got != want {
			t.Fatalf("%d samples: found %v, expected %v of %v times %v", f.side, got, want, coefs, quant)
		}
	}
}

func needVectors(t testing.TB) {
	if !avx2 {
		t.Skip("this processor has no AVX2")
	}
}

func TestVectorTransforms(t *testing.T) {
	needVectors(t)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 200_000 {
		var coefs [64]int16
		var quant [64]int32
		for range 1 + rng.IntN(64) { // also few coefficients, which take shortcuts
			coefs[rng.IntN(64)] = int16(rng.Uint32() >> rng.IntN(16))
		}
		for k := range quant {
			quant[k] = int32(rng.Uint32() & 0xffff >> (i % 16))
		}
		compareTransforms(t, &coefs, &quant)
	}
}

func FuzzVectorTransforms(f *testing.F) {
	needVectors(f)
	f.Add(make([]byte, 256))
	f.Fuzz(func(t *testing.T, data []byte) {
		var coefs [64]int16
		var quant [64]int32
		for k := 0; k < 64 && 4*k+4 <= len(data); k++ {
			coefs[k] = int16(binary.LittleEndian.Uint16(data[4*k:]))
			quant[k] = int32(binary.LittleEndian.Uint16(data[4*k+2:]))
		}
		compareTransforms(t, &coefs, &quant)
	})
}

// Images at full and reduced size are the same with both implementations.
func TestVectorDecode(t *testing.T) {
	needVectors(t)
	defer func() { avx2 = true }()
	data := painted(t, 203, 157, 85)
	for _, by := range []int{1, 2, 4, 8} {
		var pictures [2]image.Image
		for i := range pictures {
			avx2 = i == 0
			img, err := DecodeScaled(data, by)
			if err != nil {
				t.Fatal(err)
			}
			pictures[i] = img
		}
		if !reflect.DeepEqual(pictures[0], pictures[1]) {
			t.Errorf("reduced by %d: images differ", by)
		}
	}
}
