package jfif

import (
	"bytes"
	"image/jpeg"
	"testing"
)

// BenchmarkDecode compares with the standard library on a photograph of 500×375 pixels with chroma at a quarter.
func BenchmarkDecode(b *testing.B) {
	data := painted(b, 500, 375, 92)
	b.Run("jfif", func(b *testing.B) {
		for b.Loop() {
			if _, err := DecodeScaled(data, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("standard", func(b *testing.B) {
		for b.Loop() {
			if _, err := jpeg.Decode(bytes.NewReader(data)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
