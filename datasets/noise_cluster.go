package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

// SmallCluster is open-set noise (PRISM's small cluster noise, as in its released lists). Whole classes are dissolved
// in random order until at least Rate·n of all n images have been moved, or one class is left. A dissolved class,
// including images that were moved to it earlier, is split into clusters of about two images. Each cluster is moved to
// one class, drawn uniformly from the classes not dissolved yet. Images of the remaining classes keep their labels.
//
// Source: PRISM, section on small cluster noise; the rule is METHODS 14.2.
type SmallCluster struct {
	Rate float64
	// X holds the reference vectors, one row per sample.
	X blas32.General
	// Cluster splits rows into k clusters, numbered below k.
	Cluster func(x blas32.General, k int, rng *rand.Rand) (clusters []int, _ error)
	// OneShot draws targets only from the classes that will never be dissolved.
	OneShot bool
}

// Corrupt implements Noise.
func (s SmallCluster) Corrupt(labels []int, classes []string, rng *rand.Rand) ([]int, error) {
	if err := checkVectors(s.X, len(labels)); err != nil {
		return nil, err
	}
	members := membersOf(labels, len(classes))
	sizes := make([]int, len(classes))
	for c, rows := range members {
		sizes[c] = len(rows)
	}
	order := rng.Perm(len(classes))
	count := countDissolved(sizes, order, s.Rate)
	targets := slices.Sorted(slices.Values(order)) // classes that a cluster may go to
	if s.OneShot {
		targets = slices.Sorted(slices.Values(order[count:]))
	}
	out := slices.Clone(labels)
	for _, class := range order[:count] {
		if at, ok := slices.BinarySearch(targets, class); ok {
			targets = slices.Delete(targets, at, at+1)
		}
		rows := members[class]
		clusters, err := s.clusterPart(rows, rng)
		if err != nil {
			return nil, fmt.Errorf("datasets: class %q of %d images: %w", classes[class], len(rows), err)
		}
		goes := make(map[int]int)
		for k, i := range rows {
			to, ok := goes[clusters[k]]
			if !ok {
				to = targets[rng.IntN(len(targets))]
				goes[clusters[k]] = to
			}
			out[i] = to
			members[to] = append(members[to], i)
		}
		members[class] = nil
	}
	return out, nil
}

// clusterPart clusters the samples of these rows.
func (s SmallCluster) clusterPart(rows []int, rng *rand.Rand) ([]int, error) {
	k := min(len(rows), Clusters(len(rows)))
	if k == len(rows) { // each its own
		own := make([]int, k)
		for i := range own {
			own[i] = i
		}
		return own, nil
	}
	x := blas32.General{Rows: len(rows), Cols: s.X.Cols, Stride: s.X.Cols, Data: make([]float32, len(rows)*s.X.Cols)}
	for to, from := range rows {
		copy(x.Data[to*x.Stride:], s.X.Data[from*s.X.Stride:from*s.X.Stride+s.X.Cols])
	}
	clusters, err := s.Cluster(x, k, rng)
	if err == nil && len(clusters) != len(rows) {
		err = fmt.Errorf("%d samples were clustered, expected %d", len(clusters), len(rows))
	}
	return clusters, err
}

// countDissolved returns how many classes at the start of order are dissolved: the smallest number that contains the
// share rate of all samples, but never all classes.
func countDissolved(sizes, order []int, rate float64) int {
	all, moved := 0, 0
	for _, n := range sizes {
		all += n
	}
	for k, class := range order {
		// Compare shares, because rate·all may be rounded to above a whole number.
		if k == len(order)-1 || float64(moved)/float64(all) >= rate {
			return k
		}
		moved += sizes[class]
	}
	return len(order)
}

// Clusters returns the number of clusters for a class of n images: ⌊n/2 + 1/2⌋, at least 2. A single image forms
// its own cluster.
func Clusters(n int) int { return max(2, halfUp(float64(n)/2)) }

// checkVectors checks the vectors given to noise models that use samples.
func checkVectors(x blas32.General, samples int) error {
	if x.Rows != samples || x.Cols < 1 {
		return fmt.Errorf("datasets: %d vectors of dimension %d, expected one for each of the %d labelled samples",
			x.Rows, x.Cols, samples)
	}
	return nil
}
