package eval

import (
	"context"
	"fmt"
	"math"

	"winnow/features"
)

// Agreement compares clusters with classes. n_ij rows are in class i and cluster j, a_i rows in class i and b_j rows in
// cluster j:
//
//	I = Σ_ij n_ij/n · log(n·n_ij / (a_i·b_j)), H(a) = -Σ_i a_i/n · log(a_i/n)
//	NMI (arithmetic) = I / ((H(a) + H(b))/2), NMI (geometric) = I / √(H(a)·H(b))
//	AMI = (I - E[I]) / ((H(a) + H(b))/2 - E[I])
//	ARI = (T - E[T]) / (max T - E[T]) over pairs of rows, T = Σ_ij C(n_ij, 2)
//	F1  = 2·P·R/(P + R), P = T / Σ_j C(b_j, 2), R = T / Σ_i C(a_i, 2)
//
// E[·] is the expectation over all ways to draw clusters of these sizes. Logarithms are natural. The result depends
// neither on the names of classes and clusters nor on the order of rows. If the two partitions are the same, all
// measures are 1, even if all rows are in one cluster or every row is a cluster of its own. If I is 0, both NMI are 0.
// If no cluster contains a pair, P is 0; if no class contains a pair, R is 0. Sources: NMI arithmetic as in BSPML
// (002), geometric as in Le and Odobez (000), both in Strehl and Ghosh, JMLR 2002; AMI: Vinh, Epps and Bailey, JMLR
// 2010; ARI: Hubert and Arabie, 1985. The numbers agree with scikit-learn.
type Agreement struct {
	Samples        int     `json:"samples"`
	Classes        int     `json:"classes"`
	Clusters       int     `json:"clusters"` // non-empty clusters
	Information    float64 `json:"mutual_information"`
	ClassEntropy   float64 `json:"entropy_labels"`
	ClusterEntropy float64 `json:"entropy_clusters"`
	NMI            float64 `json:"nmi_arithmetic"`
	NMIGeometric   float64 `json:"nmi_geometric"`
	AMI            float64 `json:"ami"`
	ARI            float64 `json:"ari"`
	F1             float64 `json:"f1"`
	PairPrecision  float64 `json:"pair_precision"`
	PairRecall     float64 `json:"pair_recall"`
}

// Agree compares the label and the cluster number of each of n rows; both may be any integers.
func Agree(labels, clusters []int) (Agreement, error) {
	if len(labels) != len(clusters) || len(labels) == 0 {
		return Agreement{}, fmt.Errorf("eval: clustering: %d labels and %d clusters, expected equal numbers, "+
			"at least one", len(labels), len(clusters))
	}
	t := countTable(labels, clusters)
	a := Agreement{Samples: len(labels), Classes: len(t.classes), Clusters: len(t.clusters)}
	a.ClassEntropy, a.ClusterEntropy = countEntropy(t.classes, t.n), countEntropy(t.clusters, t.n)
	a.Information = t.computeInformation()
	a.measurePairs(t)
	if t.isSamePartition() {
		a.NMI, a.NMIGeometric, a.AMI, a.ARI, a.F1, a.PairPrecision, a.PairRecall = 1, 1, 1, 1, 1, 1, 1
		return a, nil
	}
	mean := (a.ClassEntropy + a.ClusterEntropy) / 2
	if a.Information > 0 {
		a.NMI, a.NMIGeometric = a.Information/mean, a.Information/math.Sqrt(a.ClassEntropy*a.ClusterEntropy)
	}
	// If the partitions differ, the mean entropy is above E[I] unless one partition is trivial.
	if expected := t.expectedInformation(); mean-expected > 1e-15*mean {
		a.AMI = (a.Information - expected) / (mean - expected)
	}
	return a, nil
}

// measurePairs computes the measures that count pairs of rows.
func (a *Agreement) measurePairs(t table) {
	both, inClass, inCluster, all := 0.0, 0.0, 0.0, pairsOf(t.n)
	for _, c := range t.cells {
		both += pairsOf(float64(c.n))
	}
	for _, n := range t.classes {
		inClass += pairsOf(float64(n))
	}
	for _, n := range t.clusters {
		inCluster += pairsOf(float64(n))
	}
	if inCluster > 0 {
		a.PairPrecision = both / inCluster
	}
	if inClass > 0 {
		a.PairRecall = both / inClass
	}
	if both > 0 {
		a.F1 = 2 * both / (inCluster + inClass)
	}
	if all > 0 {
		if expected := inClass / all * inCluster; (inClass+inCluster)/2 != expected {
			a.ARI = (both - expected) / ((inClass+inCluster)/2 - expected)
		}
	}
}

func pairsOf(n float64) float64 { return n * (n - 1) / 2 }

// table counts rows by class and cluster. Classes, clusters and cells are in the order of their first rows, so
// that sums do not depend on names.
type table struct {
	n                 float64
	classes, clusters []int // number of rows in each
	cells             []cell
}

type cell struct{ class, cluster, n int }

func countTable(labels, clusters []int) table {
	t := table{n: float64(len(labels))}
	class, cluster, at := map[int]int{}, map[int]int{}, map[[2]int]int{}
	for row := range labels {
		i, j := numberKey(class, labels[row]), numberKey(cluster, clusters[row])
		if i == len(t.classes) {
			t.classes = append(t.classes, 0)
		}
		if j == len(t.clusters) {
			t.clusters = append(t.clusters, 0)
		}
		c := numberKey(at, [2]int{i, j})
		if c == len(t.cells) {
			t.cells = append(t.cells, cell{i, j, 0})
		}
		t.classes[i]++
		t.clusters[j]++
		t.cells[c].n++
	}
	return t
}

// numberKey numbers keys in order of appearance.
func numberKey[K comparable](seen map[K]int, key K) int {
	at, ok := seen[key]
	if !ok {
		at = len(seen)
		seen[key] = at
	}
	return at
}

// isSamePartition reports whether classes and clusters are the same partition.
func (t table) isSamePartition() bool {
	return len(t.cells) == len(t.classes) && len(t.cells) == len(t.clusters)
}

func (t table) computeInformation() float64 {
	if len(t.classes) == 1 || len(t.clusters) == 1 {
		return 0
	}
	sum := 0.0
	for _, c := range t.cells {
		n, ab := float64(c.n), float64(t.classes[c.class])*float64(t.clusters[c.cluster])
		sum += n / t.n * math.Log(n/ab*t.n)
	}
	if sum < 1e-15 { // rounding error of independent partitions
		return 0
	}
	return sum
}

func countEntropy(counts []int, n float64) float64 {
	sum := 0.0
	for _, c := range counts {
		sum += float64(c) / n * math.Log(n/float64(c))
	}
	return sum
}

// Clustering measures how well k-means recovers the classes.
type Clustering struct {
	Agreement
	Inertia    float64 `json:"inertia"`
	Iterations int     `json:"iterations"`
	Converged  bool    `json:"converged"`
}

// Cluster divides the rows of z into k clusters by k-means and compares the clusters with the labels. If k is 0, it
// uses the number of classes. Rows without a label are ignored.
func Cluster(ctx context.Context, z features.Set, k int, opts KMeansOptions) (Clustering, error) {
	z = keepLabelled(z)
	if k == 0 {
		classes := map[int]int{}
		for _, label := range z.Labels {
			numberKey(classes, label)
		}
		k = len(classes)
	}
	c, err := KMeans(ctx, z.X, k, opts)
	if err != nil {
		return Clustering{}, err
	}
	a, err := Agree(z.Labels, c.Of)
	return Clustering{a, c.Inertia, c.Iterations, c.Converged}, err
}

// keepLabelled returns the rows of z that have a label.
func keepLabelled(z features.Set) features.Set {
	var rows []int
	for i, label := range z.Labels {
		if label != features.Unlabelled {
			rows = append(rows, i)
		}
	}
	if len(rows) == z.Len() {
		return z
	}
	return z.Rows(rows)
}
