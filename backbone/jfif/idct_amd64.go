package jfif

import "golang.org/x/sys/cpu"

// avx2 reports whether the transforms use AVX2. Tests set it to false to compare both implementations.
var avx2 = cpu.X86.HasAVX2

// idctAVX2 is invertDCT in AVX2: all columns at once, then all rows. dst must hold at least seven strides and eight
// samples.
//
//go:noescape
func idctAVX2(dst *byte, stride int, coefs *[64]int16, quant *[64]int32)

// idct4AVX2 is idct4 in AVX2. dst must hold at least three strides and four samples.
//
//go:noescape
func idct4AVX2(dst *byte, stride int, coefs *[64]int16, quant *[64]int32)
