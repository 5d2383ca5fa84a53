//go:build !amd64

package jfif

const avx2 = false

func idctAVX2(*byte, int, *[64]int16, *[64]int32)  { panic("jfif: no AVX2") }
func idct4AVX2(*byte, int, *[64]int16, *[64]int32) { panic("jfif: no AVX2") }
