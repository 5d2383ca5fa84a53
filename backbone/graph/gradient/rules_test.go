package gradient_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
)

// x returns an array of random numbers between -1 and 1.
func x(seed uint64, dims ...int64) array { return drawn(seed, -1, 1, dims...) }

func positive(seed uint64, dims ...int64) array { return drawn(seed, 0.3, 2, dims...) }

func ints(b *graph.Builder, v ...int64) string {
	return b.Constant(graph.NewTensor("ints", v, int64(len(v))))
}

func number(b *graph.Builder, v float64) string {
	return b.Constant(graph.NewTensor("number", []float64{v}))
}

func TestArithmetic(t *testing.T) {
	shapes := []struct {
		name string
		a, b []int64
	}{
		{"same", []int64{3, 4}, []int64{3, 4}}, {"row", []int64{3, 4}, []int64{4}},
		{"column", []int64{3, 4}, []int64{3, 1}},
		{"scalar", []int64{3, 4}, nil}, {"channel", []int64{2, 3, 2, 2}, []int64{3, 1, 1}},
		{"grows", []int64{2, 1}, []int64{3, 1, 4}},
		{"both", []int64{3, 1, 2}, []int64{1, 4, 1}}, {"vectors", []int64{4}, []int64{4}},
	}
	var cases []ruleCase
	for _, o := range []string{"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Sum"} {
		for _, s := range shapes {
			cases = append(cases, ruleCase{name: o + " " + s.name,
				in: []array{positive(1, s.a...), positive(2, s.b...)}, build: op(o)})
		}
	}
	self := func(name string) func(b *graph.Builder, in []string) string {
		return func(b *graph.Builder, in []string) string { return b.Node(name, []string{in[0], in[0]}) }
	}
	cases = append(cases,
		ruleCase{name: "Mul with itself", in: []array{x(1, 3, 4)}, build: self("Mul")},
		ruleCase{name: "Add with itself", in: []array{x(1, 3, 4)}, build: self("Add")},
		ruleCase{name: "Div by itself", in: []array{positive(1, 3, 4)}, build: self("Div")},
		ruleCase{name: "Sum of three", in: []array{x(1, 3, 4), x(2, 4), x(3, 3, 1)}, build: op("Sum")},
		ruleCase{name: "Mean of three", typ: graph.Float32, in: []array{x(1, 3, 4), x(2, 4), x(3, 3, 1)},
			build: op("Mean")},
		// the free batch size is 1 at run time
		ruleCase{name: "free and fixed", in: []array{x(1, 1, 4), x(2, 3, 4)}, build: op("Mul")},
		ruleCase{name: "free and fixed alike", in: []array{x(1, 3, 4), x(2, 3, 4)}, build: op("Mul")},
		ruleCase{name: "free under more", in: []array{x(1, 1, 4), x(2, 2, 3, 4)}, build: op("Mul")},
	)
	for _, v := range []float64{0, 0.5, 1, 2, 3, -1, 2.5} {
		cases = append(cases, ruleCase{name: "Pow constant", in: []array{positive(1, 3, 4)},
			build: func(b *graph.Builder, in []string) string {
				return b.Node("Add", []string{in[0], b.Node("Pow", []string{in[0], number(b, v)})})
			}})
	}
	runCases(t, cases)
}

func TestProducts(t *testing.T) {
	var cases []ruleCase
	for _, transA := range []int64{0, 1} {
		for _, transB := range []int64{0, 1} {
			a, b := x(1, 3, 4), x(2, 4, 5)
			if transA == 1 {
				a.dims = []int64{4, 3}
			}
			if transB == 1 {
				b.dims = []int64{5, 4}
			}
			for _, c := range [][]int64{{3, 5}, {5}, {1, 5}, {3, 1}, {1}, nil} {
				cases = append(cases, ruleCase{name: "Gemm", in: []array{a, b, x(3, c...)},
					build: op("Gemm", graph.Int("transA", transA), graph.Int("transB", transB),
						graph.Float("alpha", 0.5), graph.Float("beta", 1.5))})
			}
			cases = append(cases, ruleCase{name: "Gemm without C", opset: 11, in: []array{a, b},
				build: op("Gemm", graph.Int("transA", transA), graph.Int("transB", transB))})
		}
	}
	for _, s := range [][2][]int64{
		{{3, 4}, {4, 5}}, {{2, 3, 4}, {4, 5}}, {{2, 2, 3, 4}, {4, 5}}, {{2, 3, 4}, {2, 4, 5}}, {{2, 3, 4}, {1, 4, 5}},
		{{3, 4}, {2, 4, 5}}, {{2, 1, 3, 4}, {3, 4, 5}}, {{2, 3, 3, 4}, {2, 1, 4, 5}}, {{1, 3, 4}, {2, 4, 5}},
	} {
		for _, typ := range []graph.DataType{graph.Float64, graph.Float32} {
			cases = append(cases, ruleCase{name: "MatMul " + typ.String(), typ: typ,
				in: []array{x(1, s[0]...), x(2, s[1]...)}, build: op("MatMul")})
		}
	}
	runCases(t, cases)
}

// TestDocumented checks that the page about models lists the operators that have a derivative.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/models-reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "gradient compares -->")
	list, _, _ = strings.Cut(list, ".\n<!-- end of operators")
	found := strings.Split(strings.ReplaceAll(strings.TrimSpace(list), ",\n", ", "), ", ")
	if want := gradient.Operators(); !slices.Equal(found, want) {
		t.Errorf("docs/models-reference.md lists %q, expected %q", found, want)
	}
}
