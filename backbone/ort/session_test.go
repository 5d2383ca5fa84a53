package ort_test

import (
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/backbone/ort"
	"winnow/internal/testing/orttest"
)

// mixedModel returns a model with inputs and outputs of every type that winnow uses, including scalars:
func mixedModel() []byte {
	return build(
		[]node{
			{op: "Add", in: []string{"x", "x"}, out: []string{"twice"}},
			{op: "Mul", in: []string{"wide", "wide"}, out: []string{"squares"}},
			{op: "Add", in: []string{"ids", "ids"}, out: []string{"next"}},
			{op: "ReduceSum", in: []string{"x"}, out: []string{"sum"}, ints: map[string]int64{"keepdims": 0}},
			{op: "Mul", in: []string{"x", "factor"}, out: []string{"scaled"}},
		},
		[]value{
			{name: "x", typ: ort.Float, shape: []int64{-1, 2}}, {name: "wide", typ: ort.Double, shape: []int64{-1}},
			{name: "ids", typ: ort.Int64, shape: []int64{-1}}, {name: "factor", typ: ort.Float},
		},
		[]value{
			{name: "twice", typ: ort.Float, shape: []int64{-1, 2}},
			{name: "squares", typ: ort.Double, shape: []int64{-1}},
			{name: "next", typ: ort.Int64, shape: []int64{-1}}, {name: "sum", typ: ort.Float},
			{name: "scaled", typ: ort.Float, shape: []int64{-1, 2}},
		})
}

func open(t testing.TB, model []byte, o ort.SessionOptions) *ort.Session {
	t.Helper()
	s, err := orttest.Runtime(t).NewSession(model, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestSessionRun runs a model repeatedly with the same memory, other memory and another size. Outputs are given,
// allocated, or mixed. Every run must return the results for its own inputs.
func TestSessionRun(t *testing.T) {
	s := open(t, mixedModel(), ort.SessionOptions{})
	x, factor := make([]float32, 6), []float32{1}
	twice, sum := make([]float32, 6), make([]float32, 1)
	for round := range 8 {
		rows := 3 - round%2
		if round == 5 {
			x, twice = make([]float32, 6), make([]float32, 6)
		}
		var total float32
		for i := range x[:rows*2] {
			x[i] = float32(round*10 + i)
			total += x[i]
		}
		factor[0] = float32(round)
		in := []ort.Tensor{
			ort.Float32s(x[:rows*2], int64(rows), 2), ort.Float64s([]float64{float64(round), 3}, 2),
			ort.Int64s([]int64{int64(round) << 40}, 1), ort.Float32s(factor),
		}
		out := make([]ort.Tensor, 5)
		if round%3 != 0 {
			out[0], out[3] = ort.Float32s(twice[:rows*2], int64(rows), 2), ort.Float32s(sum)
		}
		if err := s.Run(in, out); err != nil {
			t.Fatal(err)
		}
		want := []ort.Tensor{
			{Shape: []int64{int64(rows), 2}}, ort.Float64s([]float64{float64(round * round), 9}, 2),
			ort.Int64s([]int64{int64(round) << 41}, 1), ort.Float32s([]float32{total}),
			{Shape: []int64{int64(rows), 2}},
		}
		for _, v := range x[:rows*2] {
			want[0].F32 = append(want[0].F32, 2*v)
			want[4].F32 = append(want[4].F32, factor[0]*v)
		}
		if diff := cmp.Diff(want, out); diff != "" {
			t.Fatalf("round %d: -want +got\n%s", round, diff)
		}
		if round%3 != 0 && (twice[0] != 2*x[0] || sum[0] != total) {
			t.Fatalf("round %d: the given slices hold %v and %v", round, twice, sum)
		}
	}
}

func TestSessionChosenOutputs(t *testing.T) {
	s := open(t, mixedModel(), ort.SessionOptions{Outputs: []string{"next", "twice"}})
	in := []ort.Tensor{ort.Float32s([]float32{1, 2}, 1, 2), ort.Float64s([]float64{1}, 1),
		ort.Int64s([]int64{21}, 1), ort.Float32s([]float32{1})}
	out := make([]ort.Tensor, 2)
	if err := s.Run(in, out); err != nil {
		t.Fatal(err)
	}
	want := []ort.Tensor{ort.Int64s([]int64{42}, 1), ort.Float32s([]float32{2, 4}, 1, 2)}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestSessionKeepsMemory runs the garbage collector between runs on memory that only the session references.
func TestSessionKeepsMemory(t *testing.T) {
	s := open(t, ort.GemmModel(ort.Float, false, false), ort.SessionOptions{})
	in, out := make([]ort.Tensor, 2), make([]ort.Tensor, 1)
	for round := range 50 {
		const n = 32
		a, b := parseVersion(uint64(round), n, n, n), make([]float32, n*n)
		for i := range n {
			b[i*n+i] = 1
		}
		in[0], in[1] = ort.Float32s(a, n, n), ort.Float32s(b, n, n)
		out[0] = ort.Float32s(make([]float32, n*n), n, n)
		runtime.GC()
		if err := s.Run(in, out); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(a, out[0].F32); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestClosedSession(t *testing.T) {
	s := open(t, ort.GemmModel(ort.Float, false, false), ort.SessionOptions{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(make([]ort.Tensor, 2), make([]ort.Tensor, 1)); err == nil {
		t.Error("a closed session ran")
	}
}
