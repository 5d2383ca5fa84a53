//go:build !unix

package main

// freeDisk is not known here.
func freeDisk(string) (uint64, bool) { return 0, false }
