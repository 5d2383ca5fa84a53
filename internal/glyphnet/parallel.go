package main

import "sync"

// inChunks splits 0 … n-1 into at most four parts and runs do on them in parallel.
func inChunks(n int, do func(lo, hi int)) {
	const chunks = 4
	var wait sync.WaitGroup
	for i := range chunks {
		if lo, hi := n*i/chunks, n*(i+1)/chunks; lo < hi {
			wait.Go(func() { do(lo, hi) })
		}
	}
	wait.Wait()
}
