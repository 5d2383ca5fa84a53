package eval

// groups lists the rows of every cluster in ascending order.
type groups struct {
	rows []int32
	from []int // cluster k has rows[from[k]:from[k+1]]
}

func (g *groups) clusterRows(k int) []int32 { return g.rows[g.from[k]:g.from[k+1]] }

// sortClusters fills the lists from the rows' cluster numbers.
func (g *groups) sortClusters(of []int, k int) {
	if len(g.rows) != len(of) || len(g.from) != k+1 {
		g.rows, g.from = make([]int32, len(of)), make([]int, k+1)
	}
	clear(g.from)
	for _, c := range of {
		g.from[c+1]++
	}
	for c := range k {
		g.from[c+1] += g.from[c]
	}
	next := make([]int, k)
	copy(next, g.from)
	for i, c := range of {
		g.rows[next[c]] = int32(i)
		next[c]++
	}
}

// fillEmpty moves a row to every empty cluster: the row farthest from its own centre, among clusters with several rows.
// far holds the squared distances of the rows and is set to 0 for a row that moves. If no such row has a distance above
// 0, the cluster stays empty.
func (g *groups) fillEmpty(of []int, far []float64) {
	k := len(g.from) - 1
	for c := range k {
		if len(g.clusterRows(c)) > 0 {
			continue
		}
		best := -1
		for i, d := range far {
			if d > 0 && (best < 0 || d > far[best]) && len(g.clusterRows(of[i])) > 1 {
				best = i
			}
		}
		if best < 0 {
			return
		}
		of[best], far[best] = c, 0
		g.sortClusters(of, k)
	}
}
