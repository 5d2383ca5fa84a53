package main

import "sync"

// chunks is a constant, not the number of processors: sums over chunks then do not depend on the machine.
const chunks = 4

// inChunks splits 0 … n-1 into at most four parts and does them side by side.
func inChunks(n int, do func(lo, hi int)) {
	var wait sync.WaitGroup
	for i := range chunks {
		if lo, hi := n*i/chunks, n*(i+1)/chunks; lo < hi {
			wait.Go(func() { do(lo, hi) })
		}
	}
	wait.Wait()
}

// columnSums adds up float64 rows of width values that visit computes for each part of 0 … n-1, in a fixed order.
func columnSums(n, width int, visit func(sum []float64, lo, hi int)) []float64 {
	parts := make([][]float64, chunks)
	var wait sync.WaitGroup
	for i := range chunks {
		parts[i] = make([]float64, width)
		wait.Go(func() { visit(parts[i], n*i/chunks, n*(i+1)/chunks) })
	}
	wait.Wait()
	for _, p := range parts[1:] {
		for j, v := range p {
			parts[0][j] += v
		}
	}
	return parts[0]
}
