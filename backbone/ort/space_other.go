//go:build !linux

package ort

func addressSpace() uint64 { return 0 }
