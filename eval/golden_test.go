package eval

import (
	"context"
	"math"
	"slices"
	"testing"

	"winnow/features"
	"winnow/internal/testing/reference"
)

func TestGoldenMetrics(t *testing.T) {
	reference.Check(t, "metrics", reference.Checks{
		"retrieval":          goldenRetrieval,
		"noise_detection":    goldenDetection,
		"clustering":         goldenClustering,
		"kmeans":             goldenKMeans,
		"nearest_class_mean": goldenClassMean,
		"linear_probe":       goldenProbe,
	})
}

func TestMain(m *testing.M) { reference.Main(m) }

// onlyParams fails if the case has a parameter that its check does not map to a setting.
func onlyParams(t *testing.T, c reference.Case, known ...string) {
	t.Helper()
	for name := range c.Params {
		if !slices.Contains(known, name) {
			t.Errorf("%s: parameter %q is not known, expected some of %v", c.Name, name, known)
		}
	}
}

// goldenNear checks that a number equals its golden value up to 1e-8 relative or 1e-10 absolute error.
func goldenNear(t *testing.T, c reference.Case, key string, got float64) {
	t.Helper()
	if want := c.Float(t, key); !(math.Abs(got-want) <= 1e-10+1e-8*math.Abs(want)) {
		t.Errorf("%s: %s is %v, expected %v", c.Name, key, got, want)
	}
}

// asGiven returns a set of rows and labels without normalisation.
func asGiven(rows [][]float64, labels []int) features.Set {
	s := features.NewSet(len(rows), len(rows[0]))
	copy(s.Labels, labels)
	for i, row := range rows {
		for j, v := range row {
			s.Row(i)[j] = float32(v)
		}
	}
	return s
}

func goldenClustering(t *testing.T, c reference.Case) {
	onlyParams(t, c)
	got, err := Agree(c.Ints(t, "labels"), c.Ints(t, "clusters"))
	if err != nil {
		t.Fatal(err)
	}
	for key, v := range map[string]float64{
		"mutual_information": got.Information, "entropy_labels": got.ClassEntropy,
		"entropy_clusters": got.ClusterEntropy,
		"nmi_arithmetic":   got.NMI, "nmi_geometric": got.NMIGeometric, "ami": got.AMI, "ari": got.ARI,
		"f1": got.F1, "pair_precision": got.PairPrecision, "pair_recall": got.PairRecall,
	} {
		goldenNear(t, c, key, v)
	}
}

// goldenKMeans compares the inertia Σ|x-c|² to within 1e-6 plus the effect of moving every coordinate by half a unit in
// the last place, because rows are rounded to float32. The inertia of our partition on the unrounded rows must equal
// the golden value.
func goldenKMeans(t *testing.T, c reference.Case) {
	onlyParams(t, c, "k")
	rows, k := c.Matrix(t, "points"), int(c.Param("k", 0))
	got, err := KMeans(context.Background(), asGiven(rows, nil).X, k, KMeansOptions{Seed: 1, Starts: 10})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := Agree(c.Ints(t, "labels"), got.Of); err != nil || a.ARI != 1 {
		t.Errorf("%s: the partition differs (ARI %v, %v)", c.Name, a.ARI, err)
	}
	goldenNear(t, c, "inertia", slowInertia(rows, got.Of))
	length := 0.0
	for _, row := range rows {
		for _, v := range row {
			length += v * v
		}
	}
	if want := c.Float(t, "inertia"); !(math.Abs(got.Inertia-want) <= 1e-6*want+math.Sqrt(want*length)/(1<<23)) ||
		!got.Converged {
		t.Errorf("%s: inertia %v, converged %v, expected %v", c.Name, got.Inertia, got.Converged, want)
	}
}

func goldenClassMean(t *testing.T, c reference.Case) {
	onlyParams(t, c)
	train, test := asGiven(c.Matrix(t, "train"), c.Ints(t, "train_labels")),
		asGiven(c.Matrix(t, "test"), c.Ints(t, "test_labels"))
	m := FitClassMeans(train)
	means := c.Matrix(t, "means")
	for k, class := range m.Classes {
		for j, v := range m.Means[k] {
			if !(math.Abs(means[class][j]-v) <= 1e-6*max(1, math.Abs(v))) {
				t.Errorf("%s: mean of class %d is %v, expected %v", c.Name, class, m.Means[k], means[class])
				break
			}
		}
	}
	predicted, err := m.Predict(context.Background(), test.X, 0)
	if err != nil {
		t.Fatal(err)
	}
	if want := c.Ints(t, "predictions"); !slices.Equal(predicted, want) {
		t.Errorf("%s: predicted %v, expected %v", c.Name, predicted, want)
	}
	got, err := NearestClassMean(context.Background(), train, test, ClassifierOptions{CountUnseen: true})
	if err != nil {
		t.Fatal(err)
	}
	goldenNear(t, c, "accuracy", got.Accuracy)
}

func goldenProbe(t *testing.T, c reference.Case) {
	onlyParams(t, c, "l2")
	train := asGiven(c.Matrix(t, "embeddings"), c.Ints(t, "labels"))
	opts := ProbeOptions{L2: c.Param("l2", 0), Tolerance: 1e-9}
	p, err := FitProbe(context.Background(), train, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d steps, gradient up to %.1e", c.Name, p.Iterations, p.Gradient)
	if want := c.Float(t, "loss"); !(math.Abs(p.Loss-want) <= 1e-6) {
		t.Errorf("%s: loss %v, expected %v", c.Name, p.Loss, want)
	}
	for k, want := range append(c.Matrix(t, "weights"), c.Floats(t, "bias_centered")) {
		got := p.Bias
		if k < len(p.W) {
			got = p.W[k]
		}
		for j, v := range want {
			if !(math.Abs(got[j]-v) <= 1e-4*max(1, math.Abs(v))) {
				t.Errorf("%s: weights %d are %v, expected %v", c.Name, k, got, want)
				break
			}
		}
	}
	predicted, err := p.Predict(context.Background(), train.X, 0)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, label := range train.Labels {
		if predicted[i] == label {
			right++
		}
	}
	goldenNear(t, c, "train_accuracy", float64(right)/float64(train.Len()))
}

// slowInertia returns the sum of squared distances from the means of a partition.
func slowInertia(rows [][]float64, of []int) float64 {
	sum, count := map[int][]float64{}, map[int]float64{}
	for i, c := range of {
		if sum[c] == nil {
			sum[c] = make([]float64, len(rows[i]))
		}
		count[c]++
		for j, v := range rows[i] {
			sum[c][j] += v
		}
	}
	total := 0.0
	for i, c := range of {
		for j, v := range rows[i] {
			total += (v - sum[c][j]/count[c]) * (v - sum[c][j]/count[c])
		}
	}
	return total
}
