package datasets

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"
)

// named returns n classes with count samples each, except the last class, which has one sample.
func named(n, count int) (labels []int, classes []string) {
	for c := range n {
		classes = append(classes, "c"+strconv.Itoa(c))
		for k := range count {
			if c < n-1 || k == 0 {
				labels = append(labels, c)
			}
		}
	}
	return labels, classes
}

// changed counts the changed labels by old class.
func changed(labels, noisy []int, classes int) []int {
	count := make([]int, classes)
	for i, label := range labels {
		if noisy[i] != label {
			count[label]++
		}
	}
	return count
}

// TestNoiseModels checks for every model, rate and size: the input labels stay unchanged, new labels are valid classes,
// a rate of 0 changes no label, and the same seed gives the same labels.
func TestNoiseModels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels, classes := named(rapid.IntRange(2, 8).Draw(t, "classes"), rapid.IntRange(1, 12).Draw(t, "each"))
		rate := rapid.Float64Range(0, 0.999).Draw(t, "rate")
		seed := rapid.Uint64().Draw(t, "seed")
		x := randomRows(len(labels), 4, rand.New(rand.NewPCG(seed, 5)))
		for name, model := range map[string]func(rate float64) Noise{
			"symmetric": func(p float64) Noise { return Symmetric{Rate: p} },
			"exact":     func(p float64) Noise { return Symmetric{Rate: p, Count: Exact} },
			"per class": func(p float64) Noise { return Symmetric{Rate: p, Count: PerClass} },
			"own":       func(p float64) Noise { return Symmetric{Rate: p, Own: true} },
			"pair":      func(p float64) Noise { return Pair{p} },
			"bspml":     func(p float64) Noise { return Stratified{p} },
			"renaming":  func(p float64) Noise { return Renaming{p, map[string]string{"c0": "c1", "c1": "c0"}} },
			"clusters":  func(p float64) Noise { return SmallCluster{Rate: p, X: x, Cluster: byRemainder} },
			"one shot": func(p float64) Noise {
				return SmallCluster{Rate: p, X: x, Cluster: byRemainder, OneShot: true}
			},
			"human":   func(p float64) Noise { return HumanLike{Rate: p, X: x} },
			"nearest": func(p float64) Noise { return HumanLike{Rate: p, X: x, Nearest: true} },
		} {
			before := slices.Clone(labels)
			noisy, err := model(rate).Corrupt(labels, classes, rand.New(rand.NewPCG(seed, 1)))
			if err != nil || len(noisy) != len(labels) || !slices.Equal(before, labels) {
				t.Fatalf("%s: %d labels, %v", name, len(noisy), err)
			}
			for i, label := range noisy {
				if label < 0 || label >= len(classes) {
					t.Fatalf("%s: label %d is %d", name, i, label)
				}
			}
			again, _ := model(rate).Corrupt(labels, classes, rand.New(rand.NewPCG(seed, 1)))
			none, _ := model(0).Corrupt(labels, classes, rand.New(rand.NewPCG(seed, 1)))
			if !slices.Equal(noisy, again) || !slices.Equal(none, labels) {
				t.Fatalf("%s: the same seed gave %v and %v, rate 0 %v", name, noisy, again, none)
			}
		}
	})
}

func randomRows(n, dim int, rng *rand.Rand) blas32.General {
	x := blas32.General{Rows: n, Cols: dim, Stride: dim, Data: make([]float32, n*dim)}
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	return x
}

// byRemainder puts row i into cluster i mod k.
func byRemainder(x blas32.General, k int, _ *rand.Rand) ([]int, error) {
	clusters := make([]int, x.Rows)
	for i := range clusters {
		clusters[i] = i % k
	}
	return clusters, nil
}

// TestCounts checks that models with a fixed number of changes make exactly that number.
func TestCounts(t *testing.T) {
	labels, classes := named(11, 37) // 10 classes of 37 and one of 1
	for _, rate := range []float64{0.01, 0.1, 0.3, 0.75} {
		rng := rand.New(rand.NewPCG(1, 1))
		exact, _ := Symmetric{Rate: rate, Count: Exact}.Corrupt(labels, classes, rng)
		if got, want := sum(changed(labels, exact, 11)), int(rate*371+1e-9); got != want {
			t.Errorf("exact, rate %v: %d changed, expected %d", rate, got, want)
		}
		each, _ := Symmetric{Rate: rate, Count: PerClass}.Corrupt(labels, classes, rng)
		stratified, _ := Stratified{rate}.Corrupt(labels, classes, rng)
		human, err := HumanLike{Rate: rate, X: randomRows(len(labels), 5, rng)}.Corrupt(labels, classes, rng)
		if err != nil {
			t.Fatal(err)
		}
		rounded := int(math.Round(rate * 37))
		for c := range 10 {
			for name, got := range map[string][2]int{
				"per class":  {changed(labels, each, 11)[c], rounded},
				"bspml":      {changed(labels, stratified, 11)[c], max(1, rounded)},
				"human-like": {changed(labels, human, 11)[c], rounded},
			} {
				if got[0] != got[1] {
					t.Errorf("%s, rate %v, class %d: %d changed, expected %d", name, rate, c, got[0], got[1])
				}
			}
		}
		if changed(labels, stratified, 11)[10] != 0 || changed(labels, human, 11)[10] != 0 {
			t.Errorf("rate %v: the lone sample's label was changed", rate)
		}
	}
}

func sum(list []int) (total int) {
	for _, v := range list {
		total += v
	}
	return total
}

// TestOwnLabel checks that the rate of wrong labels is p(C-1)/C if a label's own class may be drawn.
func TestOwnLabel(t *testing.T) {
	labels, classes := named(5, 4001)
	noisy, _ := Symmetric{Rate: 0.5, Own: true}.Corrupt(labels, classes, rand.New(rand.NewPCG(1, 1)))
	got := float64(sum(changed(labels, noisy, 5))) / float64(len(labels))
	if math.Abs(got-0.4) > 4*math.Sqrt(0.24/float64(len(labels))) {
		t.Errorf("%v of the labels changed, expected about 0.4", got)
	}
}

func TestRenaming(t *testing.T) {
	to10, to100 := cifaR10(), cifaR100()
	for _, c := range []struct {
		to        map[string]string
		from, end string
	}{
		{to10, "truck", "automobile"}, {to10, "9", "1"}, {to10, "3", "5"}, {to10, "dog", "cat"}, {to10, "0", ""},
		{to10, "ship", ""},
		{to100, "beaver", "dolphin"}, {to100, "whale", "beaver"}, {to100, "4", "30"}, // beaver, dolphin
		{to100, "99", "26"}, {to100, "tractor", "lawn_mower"}, {to100, "0", "51"}, // worm → crab; apple → mushroom
	} {
		if c.to[c.from] != c.end {
			t.Errorf("%s becomes %q, expected %q", c.from, c.to[c.from], c.end)
		}
	}
	if len(to10) != 10 || len(to100) != 200 {
		t.Errorf("%d and %d classes are renamed, by name and by number, expected 10 and 200", len(to10), len(to100))
	}
	seen := make(map[string]bool) // every class of CIFAR-100 is the target of another class
	for _, name := range to100 {
		seen[name] = true
	}
	if len(seen) != 200 {
		t.Errorf("%d targets, expected 200", len(seen))
	}
	classes := []string{"bird", "airplane", "frog"}
	noisy, err := Renaming{0.5, to10}.Corrupt([]int{0, 0, 0, 0, 0, 0, 0, 0, 1, 2}, classes, rand.New(rand.NewPCG(1, 1)))
	if err != nil || slices.Max(noisy[:8]) != 1 || slices.Min(noisy[:8]) != 0 || noisy[8] != 1 || noisy[9] != 2 {
		t.Errorf("found %v, %v: expected some birds as airplanes", noisy, err)
	}
	if _, err := (Renaming{0.5, to10}).Corrupt([]int{0, 1}, []string{"cat", "frog"}, nil); err == nil ||
		!strings.Contains(err.Error(), "none of the 2 classes") {
		t.Errorf("a cat cannot become a dog where there is none: found %v", err)
	}
}

// TestSmallCluster checks that whole classes dissolve until the rate is reached, in clusters that stay together and are
// never moved to a dissolved class.
func TestSmallCluster(t *testing.T) {
	labels, classes := named(12, 20)
	x := randomRows(len(labels), 3, rand.New(rand.NewPCG(1, 1)))
	for i := range x.Rows {
		x.Data[i*x.Stride] = float32(i) // the vector identifies the sample
	}
	for _, oneShot := range []bool{false, true} {
		for seed := range uint64(5) {
			type cluster struct{ call, number int }
			last := make(map[int]cluster) // the last cluster of each sample
			calls := 0
			split := func(x blas32.General, k int, rng *rand.Rand) ([]int, error) {
				calls++
				if want := max(2, (x.Rows+1)/2); k != want {
					t.Errorf("%d clusters of %d images, expected %d", k, x.Rows, want)
				}
				of := make([]int, x.Rows)
				for i := range of {
					of[i] = rng.IntN(k)
					last[int(x.Data[i*x.Stride])] = cluster{calls, of[i]}
				}
				return of, nil
			}
			noisy, err := SmallCluster{Rate: 0.4, X: x, Cluster: split, OneShot: oneShot}.Corrupt(labels, classes,
				rand.New(rand.NewPCG(seed, 2)))
			if err != nil {
				t.Fatal(err)
			}
			size, dissolved, wrong := make([]int, 12), map[int]bool{}, 0
			for _, label := range labels {
				size[label]++
			}
			for class, n := range changed(labels, noisy, 12) {
				if wrong += n; n == size[class] {
					dissolved[class] = true
				} else if n != 0 {
					t.Fatalf("%d of %d images of class %d moved, expected all or none", n, size[class], class)
				}
			}
			if share := float64(wrong) / float64(len(labels)); share < 0.4 || share-20/float64(len(labels)) >= 0.4 {
				t.Errorf("%v of the images moved, expected 0.4 to be passed by at most one class", share)
			}
			target := make(map[cluster]int)
			for i, label := range noisy {
				if dissolved[label] {
					t.Fatalf("image %d is in class %d, which was dissolved", i, label)
				}
				c, ok := last[i]
				if !ok {
					continue // a class with a single sample
				}
				if to, ok := target[c]; ok && to != label {
					t.Fatalf("cluster %v went to %d and %d", c, to, label)
				}
				target[c] = label
			}
			if moved := len(last) > 0 && slices.ContainsFunc(labels, func(l int) bool { return dissolved[l] }); !moved {
				t.Error("nothing was clustered: the test tests nothing")
			}
		}
	}
}

// TestOneShot checks that with OneShot only surviving classes are targets, so that no image is clustered twice.
func TestOneShot(t *testing.T) {
	labels, classes := named(10, 20)
	for _, oneShot := range []bool{true, false} {
		rows := 0
		count := func(x blas32.General, k int, rng *rand.Rand) ([]int, error) {
			rows += x.Rows
			return byRemainder(x, k, rng)
		}
		x := randomRows(len(labels), 3, rand.New(rand.NewPCG(1, 1)))
		noisy, err := SmallCluster{Rate: 0.6, X: x, Cluster: count, OneShot: oneShot}.Corrupt(labels, classes,
			rand.New(rand.NewPCG(3, 3)))
		if err != nil {
			t.Fatal(err)
		}
		if moved := sum(changed(labels, noisy, 10)); (rows > moved) == oneShot {
			t.Errorf("one shot %v: %d images clustered, %d moved", oneShot, rows, moved)
		}
	}
}

// TestHumanLike checks that changed samples are closer to another class than the other samples are, and get one of the
// most similar classes. With Nearest, they get the class most similar to the sample itself.
func TestHumanLike(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const classes, each, dim = 8, 100, 6
	centres := randomRows(classes, dim, rng)
	x := randomRows(classes*each, dim, rng)
	labels, names := make([]int, classes*each), make([]string, classes)
	for i := range labels {
		labels[i] = i / each
		for j := range dim {
			x.Data[i*dim+j] = 0.4*x.Data[i*dim+j] + 2*centres.Data[labels[i]*dim+j]
		}
	}
	z, err := unitRows(x)
	if err != nil {
		t.Fatal(err)
	}
	means, err := classMeans(z, labels, classes)
	if err != nil {
		t.Fatal(err)
	}
	// rank returns the number of other classes that are more similar to the mean of class than k.
	rank := func(class, k int) (r int) {
		for l := range classes {
			if l != class && multiplyMeans(means[class], means[l]) > multiplyMeans(means[class], means[k]) {
				r++
			}
		}
		return r
	}
	for _, nearest := range []bool{false, true} {
		noisy, err := HumanLike{Rate: 0.1, X: x, Similar: 2, Nearest: nearest}.Corrupt(labels, names, rng)
		if err != nil {
			t.Fatal(err)
		}
		var doubt, count [2]float64
		for i, label := range labels {
			best, choice := math.Inf(-1), -1
			for k := range classes {
				if k != label && rank(label, k) < 2 {
					if a := measureAmbiguity(z[i], means[label], means[k]); a > best {
						best, choice = a, k
					}
				}
			}
			wrong := 0
			if noisy[i] != label {
				wrong = 1
				if rank(label, noisy[i]) >= 2 {
					t.Fatalf("sample %d of class %d became %d, which is not similar", i, label, noisy[i])
				}
				if nearest && noisy[i] != choice {
					t.Fatalf("sample %d became %d, expected its nearest, %d", i, noisy[i], choice)
				}
			}
			doubt[wrong] += best
			count[wrong]++
		}
		if gap := doubt[1]/count[1] - doubt[0]/count[0]; gap < 0.05 {
			t.Errorf("wrong labels are nearer to others by %v only", gap)
		}
	}
}

func TestNoiseRefuses(t *testing.T) {
	labels, classes := named(3, 4)
	rng := rand.New(rand.NewPCG(1, 1))
	x := randomRows(len(labels), 3, rng)
	short, zero := randomRows(4, 3, rng), randomRows(len(labels), 3, rng)
	clear(zero.Data[3:6])
	opposite := randomRows(len(labels), 3, rng)
	for j := range 3 {
		for k := range 4 { // class 0: two vectors and their opposites
			opposite.Data[k*3+j] = []float32{1, -1, 2, -2}[k]
		}
	}
	fail := func(blas32.General, int, *rand.Rand) ([]int, error) { return nil, errors.New("no clusters today") }
	few := func(blas32.General, int, *rand.Rand) ([]int, error) { return []int{0}, nil }
	for want, noise := range map[string]Noise{
		"4 vectors of dimension 3, expected one for each of the 9": HumanLike{Rate: 0.3, X: short},
		"0 vectors of dimension 0":                                 SmallCluster{Rate: 0.9, Cluster: byRemainder},
		"vector 1 has no direction":                                HumanLike{Rate: 0.3, X: zero},
		"the vectors of class 0 cancel out":                        HumanLike{Rate: 0.3, X: opposite},
		"no clusters today":                                        SmallCluster{Rate: 0.9, X: x, Cluster: fail},
		"1 samples were clustered":                                 SmallCluster{Rate: 0.9, X: x, Cluster: few},
	} {
		if _, err := noise.Corrupt(labels, classes, rand.New(rand.NewPCG(1, 1))); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
	if _, err := NewNoise("loud", 0.1); err == nil || !strings.Contains(err.Error(), `"loud" is unknown`) {
		t.Errorf("found %v", err)
	}
}

// Enough classes dissolve for the share of moved images to reach the rate. Counts must not be compared instead:
// 0.81·300 rounds to above 243, although 243 of 300 images are enough.
func TestDissolvedStopsAtTheShare(t *testing.T) {
	sizes, order := make([]int, 100), make([]int, 100)
	for k := range sizes {
		sizes[k], order[k] = 3, k
	}
	for _, c := range []struct {
		rate float64
		want int
	}{{0.81, 81}, {0.805, 81}, {0.8100001, 82}, {0, 0}, {1, 99}} {
		if got := countDissolved(sizes, order, c.rate); got != c.want {
			t.Errorf("rate %v dissolves %d classes of 100, expected %d", c.rate, got, c.want)
		}
	}
	for n, want := range map[int]int{1: 2, 2: 2, 4: 2, 5: 3, 6: 3, 7: 4, 59: 30} {
		if got := Clusters(n); got != want {
			t.Errorf("%d images fall into %d clusters, expected %d", n, got, want)
		}
	}
}
