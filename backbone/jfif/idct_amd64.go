package jfif

import "golang.org/x/sys/cpu"

// avx2 reports whether the transforms run on AVX2. The tests turn it off to compare both ways.
var avx2 = cpu.X86.HasAVX2

// idctAVX2 is idct, all columns and then all rows at once. dst must have at least seven strides and eight samples.
//
//go:noescape
func idctAVX2(dst *byte, stride int, coefs *[64]int16, quant *[64]int32)

// idct4AVX2 is idct4. dst must have at least three strides and four samples.
//
//go:noescape
func idct4AVX2(dst *byte, stride int, coefs *[64]int16, quant *[64]int32)
