package jfif

import "golang.org/x/sys/cpu"

// avx2 reports whether the transforms run on AVX2. The tests turn it off to compare both ways.
var avx2 = cpu.X86.HasAVX2

// idctAVX2 is idct, all columns and then all rows at once. dst has seven strides and eight samples at least.
//
//go:noescape
func idctAVX2(dst *byte, stride int, coefs *[64]int16, quant *[64]int32)

// idct4AVX2 is idct4. dst has three strides and four samples at least.
//
//go:noescape
func idct4AVX2(dst *byte, stride int, coefs *[64]int16, quant *[64]int32)
