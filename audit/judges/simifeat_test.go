package judges

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/features"
	"winnow/filters/leaveout"
)

// Votes and ranks by loops over all pairs, round by round with the same draws.
func TestSimifeatAgainstLoops(t *testing.T) {
	z, _ := fine(4, 0.3)
	const k, classes = 10, 32
	s, err := leaveout.New(z, classes)
	if err != nil {
		t.Fatal(err)
	}
	n := z.Len()
	nearest := make([][]int, n)
	for i := range n {
		for j := range n {
			if j != i {
				nearest[i] = append(nearest[i], j)
			}
		}
		slices.SortFunc(nearest[i], func(a, b int) int {
			return cmp.Compare(features.Dot(s.Z.Row(i), s.Z.Row(b)), features.Dot(s.Z.Row(i), s.Z.Row(a)))
		})
	}
	var triples [][3]int
	for i, list := range nearest {
		triples = append(triples, [3]int{z.Labels[i], z.Labels[list[0]], z.Labels[list[1]]})
	}
	hoc, err := fitTransition(context.Background(), triples, classes)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"simifeat-v", "simifeat-r"} {
		rng := rand.New(rand.NewPCG(1, 2))
		flags, in := make([]float64, n), make([]float64, n)
		for round := range rounds {
			part := make([]bool, n)
			for i := range part {
				part[i] = round == 0 || rng.Float64() < subset
			}
			members, agree := make([][]int, classes), make([]float64, n)
			for i := range n {
				if !part[i] {
					continue
				}
				in[i]++
				soft := make([]float64, classes)
				soft[z.Labels[i]]++
				taken := 1
				for _, j := range nearest[i] {
					if part[j] && taken < k {
						soft[z.Labels[j]]++
						taken++
					}
				}
				var squares float64
				for _, v := range soft {
					squares += v * v
				}
				agree[i] = soft[z.Labels[i]] / math.Sqrt(squares)
				members[z.Labels[i]] = append(members[z.Labels[i]], i)
				if name == "simifeat-v" && slices.Max(soft) > soft[z.Labels[i]] {
					flags[i]++
				}
			}
			if name == "simifeat-v" {
				continue
			}
			for y, list := range members {
				rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
				slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(agree[a], agree[b]) })
				for at, i := range list {
					if float64(at) < math.Round(hoc.wrong()[y]*float64(len(list))) {
						flags[i]++
					}
				}
			}
		}
		v, differ, called := judged(t, z, name), 0, 0
		for i := range n {
			want := 1 - flags[i]/in[i]
			if math.Abs(v.Score[i]-want) > 1e-9 {
				differ++
			}
			if want < 0.5 {
				called++
			}
			if v.Order[i] < v.Score[i] || v.Order[i] > v.Score[i]+1.0/rounds/rounds {
				t.Errorf("%s, row %d: order %v of score %v", name, i, v.Order[i], v.Score[i])
			}
			if want >= 0.5 && v.Suggested[i] != z.Labels[i] {
				t.Errorf("%s, row %d: suggests a label in place of one that is called right", name, i)
			}
		}
		if differ > 0 || called < n/10 || called > 9*n/10 {
			t.Errorf("%s: %d of %d scores differ from those by loops; %d called wrong", name, differ, n, called)
		}
	}
}

// drawTriples labels images of classes with these shares, three of a class at a time, by a transition matrix.
func drawTriples(seed uint64, n int, prior []float64, given [][]float64) [][3]int {
	rng := rand.New(rand.NewPCG(seed, 8))
	draw := func(p []float64) int {
		u := rng.Float64()
		for k, v := range p {
			if u -= v; u < 0 {
				return k
			}
		}
		return len(p) - 1
	}
	list := make([][3]int, n)
	for i := range list {
		l := draw(prior)
		list[i] = [3]int{draw(given[l]), draw(given[l]), draw(given[l])}
	}
	return list
}

// The fit recovers the transition of the triples, and by plain sums over all C³ consensuses no
// transition close to it makes them likelier.
func TestTransition(t *testing.T) {
	prior := []float64{.2, .5, .3}
	given := [][]float64{{.7, .2, .1}, {.05, .9, .05}, {.3, .1, .6}}
	triples := drawTriples(1, 20000, prior, given)
	got, err := fitTransition(t.Context(), triples, 3)
	if err != nil {
		t.Fatal(err)
	}
	for l, row := range given {
		for a, want := range row {
			if math.Abs(got.given[l*3+a]-want) > .03 || math.Abs(got.prior[l]-prior[l]) > .03 {
				t.Errorf("class %d, called %d: %.3f of %.3f, expected %.3f of %.3f", l, a, got.given[l*3+a],
					got.prior[l], want, prior[l])
			}
		}
	}
	for k, share := range got.wrong() {
		var wrong, all float64
		for l := range prior {
			all += prior[l] * given[l][k]
			if l != k {
				wrong += prior[l] * given[l][k]
			}
		}
		if math.Abs(share-wrong/all) > .03 {
			t.Errorf("called %d: %.3f wrong, expected %.3f", k, share, wrong/all)
		}
	}
	var counts [3][3][3]float64
	for _, of := range triples {
		counts[of[0]][of[1]][of[2]]++
	}
	likelihood := func(t transition) (sum float64) {
		for a := range 3 {
			for b := range 3 {
				for c := range 3 {
					p := 0.0
					for l := range 3 {
						p += t.prior[l] * t.given[l*3+a] * t.given[l*3+b] * t.given[l*3+c]
					}
					sum += counts[a][b][c] * math.Log(p)
				}
			}
		}
		return sum
	}
	best := likelihood(got)
	for l := range 3 {
		for a := range 3 {
			for _, by := range []float64{-.02, .02} {
				moved := transition{got.prior, slices.Clone(got.given)}
				moved.given[l*3+a] += by
				moved.given[l*3+(a+1)%3] -= by
				if likelihood(moved) > best {
					t.Errorf("class %d, called %d: likelier by %v", l, a, by)
				}
			}
		}
	}
}

// For many classes one rate is recovered; for few it is close to that of the matrix, by a likelihood in plain sums.
func TestOneRate(t *testing.T) {
	for _, rate := range []float64{0, .2, .5} {
		const c = 120
		rng := rand.New(rand.NewPCG(2, 8))
		triples := make([][3]int, 12000)
		for i := range triples {
			for j := range 3 {
				if triples[i][j] = i % c; rng.Float64() < rate {
					triples[i][j] = (i + 1 + rng.IntN(c-1)) % c
				}
			}
		}
		share, err := oneRate(t.Context(), triples, c)
		if err != nil {
			t.Fatal(err)
		}
		mean := 0.0
		for _, v := range share {
			mean += v / c
		}
		if math.Abs(mean-rate) > .015 {
			t.Errorf("%.3f wrong, expected %v", mean, rate)
		}
	}
	prior := []float64{.25, .35, .4}
	triples := drawTriples(3, 5000, prior, [][]float64{{.8, .1, .1}, {.1, .8, .1}, {.1, .1, .8}})
	share, err := oneRate(t.Context(), triples, 3)
	if err != nil {
		t.Fatal(err)
	}
	matrix, err := fitTransition(t.Context(), triples, 3)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range matrix.wrong() {
		all := .8*prior[k] + .1*(1-prior[k])
		if want := .1 * (1 - prior[k]) / all; math.Abs(share[k]-want) > .02 || math.Abs(share[k]-v) > .04 {
			t.Errorf("called %d: %.3f wrong, by the matrix %.3f, expected %.3f", k, share[k], v, want)
		}
	}
}
