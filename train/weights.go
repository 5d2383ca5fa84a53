package train

// weights draws positions with probability proportional to integer weights that change between draws. It is a
// Fenwick tree, so a draw or a change costs O(log n) with thousands of classes.
type weights struct {
	of    []int // the weights themselves
	tree  []int // tree[i] is the sum of the lowbit(i) weights that end at i, counting from 1
	total int
	top   int // largest power of two ≤ n
}

func newWeights(n int) *weights {
	w := &weights{of: make([]int, n), tree: make([]int, n+1), top: 1}
	for w.top*2 <= n {
		w.top *= 2
	}
	return w
}

// changeWeight changes weight i by delta; no weight may become negative.
func (w *weights) changeWeight(i, delta int) {
	w.of[i] += delta
	w.total += delta
	for j := i + 1; j < len(w.tree); j += j & -j {
		w.tree[j] += delta
	}
}

// findPosition returns the position whose part of [0, total) contains x.
func (w *weights) findPosition(x int) int {
	at := 0
	for step := w.top; step > 0; step /= 2 {
		if next := at + step; next < len(w.tree) && w.tree[next] <= x {
			at, x = next, x-w.tree[next]
		}
	}
	return at
}
