// Command strangers mixes images of one set into another and ranks them by how strange they look: see
// experiments/strangers/README.md.
//
//	go run ./experiments/strangers birds=cub.features digits=all.features,mnist/ … > pairs.csv
//
// A set is NAME=STORE or NAME=STORE,PREFIX: the images of a feature store, or those whose path begins with PREFIX. All
// stores must be of one network.
package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"winnow/audit/findings"
	"winnow/backbone/ort"
	"winnow/eval"
	"winnow/features"
)

// mixture says how many images of a set are mixed with how many strangers, how often.
type mixture struct{ ordinary, strangers, times int }

// mixtures of the small sets.
func mixtures() (list []mixture) {
	for _, n := range []int{100, 200, 500} {
		for _, k := range []int{0, 1, 2, 4, 10} {
			list = append(list, mixture{n, k, 3})
		}
	}
	return list
}

const (
	most    = 1500 // ordinary images of a mixture
	fewest  = 4    // strangers, or one in a hundred
	maxMem  = 1 << 28
	nearest = 10
)

func main() {
	log.SetFlags(0)
	small := flag.Bool("small", false, "count what is called in small sets")
	flag.Parse()
	if err := measure(context.Background(), flag.Args(), *small); err != nil {
		log.Fatal(err)
	}
}

type named struct {
	name string
	x    features.Set
}

func measure(ctx context.Context, args []string, small bool) error {
	if _, err := ort.Open(ort.Config{}); err != nil {
		return err
	}
	var sets []named
	for _, arg := range args {
		name, from, _ := strings.Cut(arg, "=")
		dir, prefix, _ := strings.Cut(from, ",")
		x, err := read(ctx, dir, prefix)
		if err != nil {
			return err
		}
		sets = append(sets, named{name, x})
	}
	out := csv.NewWriter(os.Stdout)
	if small {
		return measureSmall(ctx, sets, out)
	}
	// Error returns its error
	out.Write([]string{"ordinary", "strangers", "images", "of them strangers", "fit", "nearest", "ten nearest",
		"single linkage", "ordinary called", "strangers called"})
	for i, home := range sets {
		for j, abroad := range sets {
			record, err := pair(ctx, home, abroad, i == j)
			if err != nil {
				return err
			}
			out.Write(record)
			out.Flush()
		}
	}
	return out.Error()
}

// measureSmall writes for each mixture of small sets how many images of all pairs are called strangers.
func measureSmall(ctx context.Context, sets []named, out *csv.Writer) error {
	// Error returns its error
	out.Write([]string{"ordinary", "strangers", "all ordinary", "called", "all strangers", "called"})
	for _, m := range mixtures() {
		var count, called [2]int // ordinary, strangers
		for i, home := range sets {
			for j, abroad := range sets {
				if (i == j) != (m.strangers == 0) || home.x.Len() < m.ordinary {
					continue
				}
				for time := range m.times {
					rng := rand.New(rand.NewPCG(uint64(time), uint64(100*m.ordinary+m.strangers)))
					_, fit, err := mixed(ctx, home, abroad, m.ordinary, m.strangers, rng)
					if err != nil {
						return err
					}
					for at, v := range fit {
						kind := 0
						if at >= m.ordinary {
							kind = 1
						}
						if count[kind]++; v < findings.Outlying {
							called[kind]++
						}
					}
				}
			}
		}
		out.Write([]string{fmt.Sprint(m.ordinary), fmt.Sprint(m.strangers), fmt.Sprint(count[0]), fmt.Sprint(called[0]),
			fmt.Sprint(count[1]), fmt.Sprint(called[1])})
		out.Flush()
	}
	return out.Error()
}

// mixed returns n images of home with k of abroad at their end, and their fits.
func mixed(ctx context.Context, home, abroad named, n, k int, rng *rand.Rand) (z features.Set, fit []float64,
	err error) {
	some := func(x features.Set, n int) features.Set { return x.Rows(rng.Perm(x.Len())[:n]) }
	z, more := some(home.x, n), some(abroad.x, k)
	z.X.Data, z.X.Rows = append(z.X.Data, more.X.Data...), n+k
	z.Labels = append(z.Labels, more.Labels...)
	_, fit, err = findings.NewCompany(ctx, z, nil, nil, maxMem)
	return z, fit, err
}

// read reads the vectors of a store whose path has a prefix, scaled to unit length.
func read(ctx context.Context, dir, prefix string) (x features.Set, err error) {
	store, err := features.Open(dir)
	if err != nil {
		return x, err
	}
	var rows []int
	for i, path := range store.Paths {
		if strings.HasPrefix(path, prefix) {
			rows = append(rows, i)
		}
	}
	if x.X, err = store.Read(ctx, rows); err != nil {
		return x, err
	}
	x.Labels = make([]int, len(rows))
	return x, features.Normalize(x.X)
}

// pair measures one mixture; pure has no strangers.
func pair(ctx context.Context, home, abroad named, pure bool) ([]string, error) {
	rng := rand.New(rand.NewPCG(7, 1))
	n := min(home.x.Len(), most)
	k := max(fewest, n/100)
	if pure {
		k = 0
	}
	z, fit, err := mixed(ctx, home, abroad, n, k, rng)
	if err != nil {
		return nil, err
	}
	called := func(list []float64) string {
		some := 0
		for _, v := range list {
			if v < findings.Outlying {
				some++
			}
		}
		return fmt.Sprintf("%.2f", 100*float64(some)/float64(max(len(list), 1)))
	}
	near := make([][]float32, n+k)
	err = eval.EachRow(ctx, z.X, z.X, maxMem, func(i int, s []float32) {
		s[i] = -math.MaxFloat32
		near[i] = slices.Clone(s)
	})
	if err != nil {
		return nil, err
	}
	record := []string{home.name, abroad.name, fmt.Sprint(n + k), fmt.Sprint(k)}
	for _, score := range [][]float64{fit, similar(near, 1), similar(near, nearest), linked(near)} {
		if pure {
			record = append(record, "")
		} else {
			record = append(record, fmt.Sprintf("%.4f", ranked(score, n)))
		}
	}
	return append(record, called(fit[:n]), called(fit[n:])), nil
}

// ranked returns the AUROC of low scores for the rows from n on.
func ranked(score []float64, n int) float64 {
	pairs, before := 0.0, 0.0
	for _, b := range score[n:] {
		for _, a := range score[:n] {
			pairs++
			switch {
			case b < a:
				before++
			case b == a:
				before += 0.5
			}
		}
	}
	return before / pairs
}

// similar returns the k-th largest similarity of each row.
func similar(s [][]float32, k int) []float64 {
	out := make([]float64, len(s))
	for i, row := range s {
		row = slices.Clone(row)
		slices.Sort(row)
		out[i] = float64(row[len(row)-k])
	}
	return out
}

// linked scores as SelfClean ranks off-topic images: by agglomerative clustering with single linkage, an image is the
// stranger, the longer it stays in a small cluster. The score is minus the area
//
//	Σ_merges (d_m − d_{m−1}) · (1 − |C_m|/n)
//
// over the merges of the clusters C that hold the image, at distances d.
//
// Source: the idea is from Gröger & al., "Intrinsic Self-Supervision for Data Quality Audits", NeurIPS 2024, section 3;
// the area is our reading of it.
func linked(s [][]float32) []float64 {
	n := len(s)
	type edge struct {
		a, b int
		far  float64
	}
	edges, far, from, in := []edge{}, make([]float64, n), make([]int, n), make([]bool, n)
	for i := range far {
		far[i] = math.Inf(1)
	}
	now := 0
	for len(edges) < n-1 { // the minimum spanning tree, by Prim
		in[now] = true
		next := -1
		for j := range far {
			if in[j] {
				continue
			}
			if v := 1 - float64(s[now][j]); v < far[j] {
				far[j], from[j] = v, now
			}
			if next < 0 || far[j] < far[next] {
				next = j
			}
		}
		edges = append(edges, edge{from[next], next, far[next]})
		now = next
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.far, b.far) })
	cluster, members, score, last := make([]int, n), make([][]int, n), make([]float64, n), make([]float64, n)
	for i := range n {
		cluster[i], members[i] = i, []int{i}
	}
	for _, e := range edges {
		a, b := cluster[e.a], cluster[e.b]
		for _, c := range []int{a, b} {
			for _, i := range members[c] {
				score[i] -= (e.far - last[i]) * (1 - float64(len(members[c]))/float64(n))
				last[i] = e.far
			}
		}
		if len(members[a]) < len(members[b]) {
			a, b = b, a
		}
		for _, i := range members[b] {
			cluster[i] = a
		}
		members[a] = append(members[a], members[b]...)
		members[b] = nil
	}
	return score
}
