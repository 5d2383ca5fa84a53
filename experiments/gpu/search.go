package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/eval"
	"winnow/features"
)

// neighbours is the number of neighbours searched. It exceeds the size of the largest class of the drawn set.
const neighbours = 16

// perClass is the mean number of rows of a class in the drawn set, about that of Stanford Online Products.
const perClass = 5

// drawn returns a set of unit rows whose classes overlap.
func (b *bench) drawn() (features.Set, error) {
	rng := rand.New(rand.NewPCG(11, 0))
	s := features.Set{X: features.NewMatrix(b.rows, b.dim), Labels: make([]int, b.rows)}
	centre := make([]float32, b.dim)
	for i := range b.rows {
		if i%perClass == 0 {
			for j := range centre {
				centre[j] = float32(rng.NormFloat64())
			}
		}
		s.Labels[i] = i / perClass
		row := s.Row(i)
		for j := range row {
			row[j] = 0.5*centre[j] + float32(rng.NormFloat64())
		}
	}
	return s, features.Normalize(s.X)
}

// ranking returns a model that maps queries q [N,d] to the most similar rows of g and to their similarities. g [d,M] is
// a constant of the model.
func (b *bench) ranking(g []float32) []byte {
	m := graph.NewBuilder("ranking", 17)
	q := m.Input("q", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(int64(b.dim))})
	s := m.Node("MatMul", []string{q, m.Constant(graph.NewTensor("g", g, int64(b.dim), int64(b.rows)))})
	k := m.Constant(graph.NewTensor("k", []int64{neighbours + 1}, 1)) // one more, because a row finds itself
	m.Add(&graph.Node{Op: "TopK", Inputs: []string{s, k}, Outputs: []string{"similarity", "row"}})
	made, shape := m.Model(), graph.Shape{graph.Free("N"), graph.Fixed(neighbours + 1)}
	made.Graph.Outputs = []*graph.ValueInfo{{Name: "similarity", Type: graph.Float32, Shape: shape},
		{Name: "row", Type: graph.Int64, Shape: shape}}
	return made.Marshal()
}

// nearest searches and evaluates a whole set on the device, and part of it on the CPU.
func nearest(b *bench) error {
	if err := b.open(); err != nil {
		return err
	}
	set, err := b.drawn()
	if err != nil {
		return err
	}
	turned := make([]float32, len(set.X.Data))
	for i := range b.rows {
		for j, v := range set.Row(i) {
			turned[j*b.rows+i] = v
		}
	}
	model := b.ranking(turned)
	for _, p := range b.precisions() {
		searched := func() (Record, error) { return b.searched(p, set, model) }
		if err := b.measure(searched, "nearest and evaluation", p.name, "device"); err != nil {
			return err
		}
	}
	return b.measure(func() (Record, error) {
		began := time.Now()
		r, err := eval.Retrieve(b.ctx, set, nil, eval.RetrievalOptions{MaxMem: eval.DefaultMaxMem})
		return Record{Values: map[string]float64{"seconds": time.Since(began).Seconds(), "p1": r.PrecisionAt1,
			"mapr": r.MAPAtR}}, err
	}, "nearest and evaluation", "float32", "CPU, as winnow eval")
}

// turns calls run for blocks of queries, with the first row and the number of rows of each block.
func (b *bench) turns(run func(from, n int) error) error {
	for from := 0; from < b.rows; from += b.asked {
		if !time.Now().Before(b.end()) {
			return errTime
		}
		if err := run(from, min(b.asked, b.rows-from)); err != nil {
			return err
		}
	}
	return nil
}

// searched finds the nearest rows of all rows, evaluates them, and compares some of them with the CPU's.
func (b *bench) searched(p precision, set features.Set, model []byte) (rec Record, err error) {
	const k = neighbours + 1
	rt, err := b.device(p.gpu)
	if err != nil {
		return rec, err
	}
	r, err := rt.NewSession(model, ort.SessionOptions{})
	if err != nil {
		return rec, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	similarity, row := make([]float32, b.rows*k), make([]int64, b.rows*k)
	turn := func(from, n int) error {
		q := ort.Float32s(set.X.Data[from*b.dim:(from+n)*b.dim], int64(n), int64(b.dim))
		return r.Run([]ort.Tensor{q}, []ort.Tensor{ort.Float32s(similarity[from*k:(from+n)*k], int64(n), k),
			ort.Int64s(row[from*k:(from+n)*k], int64(n), k)})
	}
	if err := turn(0, min(b.asked, b.rows)); err != nil {
		return rec, err
	}
	began := time.Now()
	if err := b.turns(turn); err != nil {
		return rec, err
	}
	lists := make([][]eval.Neighbour, b.rows)
	for i := range lists {
		for j := range k {
			if at := i*k + j; int(row[at]) != i && len(lists[i]) < neighbours {
				lists[i] = append(lists[i], eval.Neighbour{Row: int(row[at]), Similarity: similarity[at]})
			}
		}
	}
	p1, mapr := judge(set.Labels, lists)
	took := time.Since(began).Seconds()
	same, off, err := b.check(set, lists)
	return Record{Values: map[string]float64{"seconds": took, "p1": p1, "mapr": mapr, "same": same, "off": off}}, err
}

// judge returns P@1 and MAP@R over the rows whose label another row shares.
func judge(labels []int, lists [][]eval.Neighbour) (p1, mapr float64) {
	count, n := map[int]int{}, 0.0
	for _, y := range labels {
		count[y]++
	}
	for i, list := range lists {
		r := count[labels[i]] - 1
		if r == 0 {
			continue
		}
		n++
		right, ap := 0.0, 0.0
		for at, near := range list[:min(r, len(list))] {
			if labels[near.Row] == labels[i] {
				right++
				ap += right / float64(at+1)
				if at == 0 {
					p1++
				}
			}
		}
		mapr += ap / float64(r)
	}
	return p1 / n, mapr / n
}

// check compares the neighbours of some rows with the CPU's. It returns the share of equal neighbours and the largest
// difference in similarity. Different neighbours in the same rank count as equal if their similarities are equal up to
// rounding.
func (b *bench) check(set features.Set, lists [][]eval.Neighbour) (same, off float64, err error) {
	const alike = 1e-5
	n := min(b.checked, b.rows)
	rows := rand.New(rand.NewPCG(13, 0)).Perm(b.rows)[:n]
	slices.Sort(rows)
	want, err := eval.Nearest(b.ctx, set.Rows(rows), &set, neighbours+1, eval.DefaultMaxMem)
	if err != nil {
		return 0, 0, err
	}
	all := 0.0
	for i, list := range want {
		at := 0
		for _, near := range list {
			if near.Row == rows[i] || at >= neighbours {
				continue
			}
			if at >= len(lists[rows[i]]) {
				return 0, 0, fmt.Errorf("gpu: search: row %d has %d neighbours, expected %d", rows[i],
					len(lists[rows[i]]), neighbours)
			}
			got := lists[rows[i]][at]
			d := math.Abs(float64(got.Similarity) - float64(near.Similarity))
			if off = greater(off, d); got.Row == near.Row || d < alike {
				same++
			}
			all++
			at++
		}
	}
	return same / all, off, nil
}
