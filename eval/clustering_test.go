package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// slowAgree follows the definitions: it counts pairs of rows one by one, and averages the information over all orders
// of the clusters.
func slowAgree(labels, clusters []int) map[string]float64 {
	n := float64(len(labels))
	var both, inClass, inCluster, neither float64
	for i := range labels {
		for j := range i {
			a, b := labels[i] == labels[j], clusters[i] == clusters[j]
			switch {
			case a && b:
				both++
			case a:
				inClass++
			case b:
				inCluster++
			default:
				neither++
			}
		}
	}
	out := map[string]float64{"f1": 2 * both / (2*both + inClass + inCluster), "p": both / (both + inCluster),
		"r": both / (both + inClass)}
	out["ari"] = 2 * (both*neither - inClass*inCluster) /
		((both+inClass)*(inClass+neither) + (both+inCluster)*(inCluster+neither))
	h := slowInformation(labels, labels)
	g := slowInformation(clusters, clusters)
	mi := slowInformation(labels, clusters)
	out["mi"], out["nmi"], out["geo"] = mi, 2*mi/(h+g), mi/math.Sqrt(h*g)
	sum, orders := 0.0, 0.0
	permuted := append([]int(nil), clusters...)
	var permute func(k int)
	permute = func(k int) {
		if k == len(permuted) {
			sum += slowInformation(labels, permuted)
			orders++
			return
		}
		for i := k; i < len(permuted); i++ {
			permuted[k], permuted[i] = permuted[i], permuted[k]
			permute(k + 1)
			permuted[k], permuted[i] = permuted[i], permuted[k]
		}
	}
	if n <= 7 {
		permute(0)
		out["ami"] = (mi - sum/orders) / ((h+g)/2 - sum/orders)
	}
	return out
}

// slowInformation returns Σ p(a,b) log(p(a,b)/(p(a)p(b))). For a partition with itself, this is the entropy.
func slowInformation(a, b []int) float64 {
	share := func(is func(i int) bool) float64 {
		count := 0.0
		for i := range a {
			if is(i) {
				count++
			}
		}
		return count / float64(len(a))
	}
	sum := 0.0
	for i := range a { // every row has weight 1/n in p(a,b)
		joint := share(func(j int) bool { return a[j] == a[i] && b[j] == b[i] })
		pa, pb := share(func(j int) bool { return a[j] == a[i] }), share(func(j int) bool { return b[j] == b[i] })
		sum += math.Log(joint/(pa*pb)) / float64(len(a))
	}
	return sum
}

func compareAgree(labels, clusters []int, got Agreement) error {
	for key, want := range slowAgree(labels, clusters) {
		v := map[string]float64{"f1": got.F1, "p": got.PairPrecision, "r": got.PairRecall, "ari": got.ARI,
			"mi": got.Information, "nmi": got.NMI, "geo": got.NMIGeometric, "ami": got.AMI}[key]
		if math.IsNaN(want) || math.IsInf(want, 0) {
			continue // division by 0: see TestAgreeDegenerate
		}
		if math.Abs(v-want) > 1e-9 {
			return fmt.Errorf("%s of %v and %v is %v, expected %v", key, labels, clusters, v, want)
		}
	}
	return nil
}

func TestAgreeAgainstDefinition(t *testing.T) {
	adjusted := 0
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 2))
		n := 2 + rng.IntN(6)
		if seed%3 == 0 {
			n = 8 + rng.IntN(60)
		}
		labels, clusters := make([]int, n), make([]int, n)
		for i := range labels {
			labels[i], clusters[i] = rng.IntN(4)*7-3, rng.IntN(1+int(seed%5))
		}
		got, err := Agree(labels, clusters)
		if err != nil {
			t.Fatal(err)
		}
		if err := compareAgree(labels, clusters, got); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if n <= 7 && got.AMI != 0 && got.AMI != 1 {
			adjusted++
			got.AMI = got.NMI // the check must detect a measure without adjustment for chance
			if compareAgree(labels, clusters, got) == nil {
				t.Errorf("seed %d: NMI in place of AMI passes the check", seed)
			}
		}
	}
	if adjusted < 30 {
		t.Errorf("only %d cases have an AMI that differs from the NMI", adjusted)
	}
}

// For large tables, E[I] summed outwards from the modes equals the plain sum over all m.
func TestExpectedInformationAgainstPlainSum(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 3))
		n := 2000 + rng.IntN(3000)
		labels, clusters := make([]int, n), make([]int, n)
		for i := range labels {
			labels[i], clusters[i] = int(10*math.Abs(rng.NormFloat64())), rng.IntN(1+rng.IntN(40))
		}
		if seed%3 == 0 { // so large that the probability of no shared row underflows
			for i := range labels {
				labels[i], clusters[i] = rng.IntN(3), rng.IntN(2)
			}
		}
		table := countTable(labels, clusters)
		want := 0.0
		for _, a := range table.classes {
			for _, b := range table.clusters {
				for m := max(1, a+b-n); m <= min(a, b); m++ {
					p := logChoose(float64(a), float64(m)) + logChoose(float64(n-a), float64(b-m)) -
						logChoose(float64(n), float64(b))
					want += float64(m) / float64(n) * math.Log(float64(n)*float64(m)/(float64(a)*float64(b))) *
						math.Exp(p)
				}
			}
		}
		if got := table.expectedInformation(); math.Abs(got-want) > 1e-9*want {
			t.Errorf("seed %d: %v, expected %v", seed, got, want)
		}
	}
}

func TestAgreeDegenerate(t *testing.T) {
	for _, c := range []struct {
		name             string
		labels, clusters []int
		nmi, ami, ari    float64
		f1, p, r         float64
	}{
		{"one row", []int{4}, []int{9}, 1, 1, 1, 1, 1, 1},
		{"one class in one cluster", []int{2, 2, 2}, []int{0, 0, 0}, 1, 1, 1, 1, 1, 1},
		{"all distinct on both sides", []int{5, 1, 3}, []int{0, 1, 2}, 1, 1, 1, 1, 1, 1},
		{"other names", []int{0, 0, 1, 1, 2}, []int{7, 7, -1, -1, 3}, 1, 1, 1, 1, 1, 1},
		{"one cluster", []int{0, 0, 1, 1}, []int{3, 3, 3, 3}, 0, 0, 0, 0.5, 1. / 3, 1},
		{"one class", []int{0, 0, 0, 0}, []int{1, 1, 2, 2}, 0, 0, 0, 0.5, 1, 1. / 3},
		{"every row its own cluster", []int{0, 0, 1, 1}, []int{0, 1, 2, 3}, 2. / 3, 0, 0, 0, 0, 0},
		{"independent", []int{0, 0, 1, 1}, []int{0, 1, 0, 1}, 0, -0.5, -0.5, 0, 0, 0},
	} {
		got, err := Agree(c.labels, c.clusters)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range [][2]float64{{got.NMI, c.nmi}, {got.AMI, c.ami}, {got.ARI, c.ari}, {got.F1, c.f1},
			{got.PairPrecision, c.p}, {got.PairRecall, c.r}} {
			if !(math.Abs(v[0]-v[1]) < 1e-12) {
				t.Errorf("%s: found %+v, expected %+v", c.name, got, c)
				break
			}
		}
	}
	for _, c := range [][2][]int{{{}, {}}, {{1, 2}, {1}}} {
		if _, err := Agree(c[0], c[1]); err == nil {
			t.Errorf("%v: no error", c)
		}
	}
}

func BenchmarkAgree(b *testing.B) { // as large as the test half of Stanford Online Products
	rng := rand.New(rand.NewPCG(1, 1))
	labels, clusters := make([]int, 60502), make([]int, 60502)
	for i := range labels {
		labels[i], clusters[i] = i*11316/60502, rng.IntN(11316)
	}
	for b.Loop() {
		if _, err := Agree(labels, clusters); err != nil {
			b.Fatal(err)
		}
	}
}
