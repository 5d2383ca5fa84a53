package gradient_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/internal/testing/reference"
)

// word returns the i-th 64-bit word of splitmix64, started at hash, a text's FNV-1a hash.
func word(hash uint64, i int) uint64 {
	z := hash + uint64(i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func hash(text string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 0x100000001b3
	}
	return h
}

// formula returns n nearly normally distributed numbers that depend only on a text: each is the sum of the four 16-bit
// quarters of a word.
func formula(text string, n int64, mean, spread float64) []float32 {
	out, h := make([]float32, n), hash(text)
	for i := range out {
		z := word(h, i)
		quarters := float64(z&0xffff + z>>16&0xffff + z>>32&0xffff + z>>48)
		out[i] = float32(mean + spread*((quarters-131070)/65536*math.Sqrt(3)))
	}
	return out
}

// buckets is the number of values that represent a gradient.
const buckets = 16

// sketch returns 16 signed sums of x, with every element in one of them; up to 16 elements represent themselves. The
// expected squared norm of a sketch equals that of x, and a single element keeps its magnitude.
func sketch(x []float32) []float64 {
	if len(x) <= buckets {
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = float64(v)
		}
		return out
	}
	out, h := make([]float64, buckets), hash("sketch")
	for i, v := range x {
		z := word(h, i)
		out[z>>60] += float64(v) * float64(1-2*int64(z&1))
	}
	return out
}

// row is torch's result for one tensor: the tensor's norm and sketch.
type row struct {
	name   string
	norm   float64
	sketch []float64
}

// UnmarshalJSON reads [name, norm, sketch...].
func (r *row) UnmarshalJSON(b []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	if len(list) < 3 {
		return fmt.Errorf("found %d entries, expected a name, a norm and a sketch", len(list))
	}
	if err := json.Unmarshal(list[0], &r.name); err != nil {
		return err
	}
	numbers := make([]float64, len(list)-1)
	for i := range numbers {
		if err := json.Unmarshal(list[i+1], &numbers[i]); err != nil {
			return err
		}
	}
	r.norm, r.sketch = numbers[0], numbers[1:]
	return nil
}

// off returns ‖sketch(x) - sketch(torch's)‖ / ‖torch's‖, the relative error of x up to the variance of the sketch.
func (r row) off(x []float32) float64 {
	s := sketch(x)
	if len(s) != len(r.sketch) {
		return math.Inf(1)
	}
	var sum float64
	for i, v := range s {
		sum += (v - r.sketch[i]) * (v - r.sketch[i])
	}
	return math.Sqrt(sum) / r.norm
}

// torchRun holds the results of torch for one network and one input (testdata/README.md).
type torchRun struct {
	Structure, Output string
	Input             []int64
	Classes           int64
	Spread            float64 // standard deviation of the input
	Seed              uint64
	Train             bool    // BatchNormalization in training mode
	Torch32           float64 // the largest relative error of torch in float32
	Value             row     // result for the output
	Weights, State    []row
}

func readRun(t testing.TB, name string) *torchRun {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	r := &torchRun{}
	if err := json.Unmarshal(b, r); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

// model returns the network with its weights: those of a real file, or numbers from the formula that the structure
// names instead of a file.
func (r *torchRun) model(t testing.TB) *graph.Model {
	t.Helper()
	path := filepath.Join("testdata", r.Structure)
	if _, err := os.Stat(path); err != nil {
		path = reference.Asset(t, "models/"+r.Structure)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := graph.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	g := m.Graph
	for i, w := range g.Initializers {
		if w.External() == "" {
			continue
		}
		var mean, spread float64
		if _, err := fmt.Sscanf(w.External(), "drawn %g %g", &mean, &spread); err != nil {
			t.Fatalf("%s: %q: %v", r.Structure, w.External(), err)
		}
		n, err := w.Size()
		if err != nil {
			t.Fatal(err)
		}
		g.Initializers[i] = graph.NewTensor(w.Name, formula(fmt.Sprint(r.Seed, " ", w.Name), n, mean, spread),
			w.Dims...)
	}
	at := slices.IndexFunc(g.Inputs, func(v *graph.ValueInfo) bool { return v == g.DataInputs()[0] })
	in := *g.Inputs[at]
	in.Shape = append(graph.Shape{graph.Free("N")}, graph.ShapeOf(r.Input[1:]...)...)
	g.Inputs[at] = &in
	return m
}

// TestFormula checks that the numbers equal those of the script, and that a sketch detects a single changed element.
func TestFormula(t *testing.T) {
	got := fmt.Sprint(formula("0 conv1.weight", 4, 0, 0.25))
	if want := "[0.12046998 0.08837857 -0.3792495 -0.22064249]"; got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
	x := formula("a", 1000, 0, 1)
	r := row{norm: 1, sketch: sketch(x)}
	if got, want := r.sketch[0], -0.29225191741716117; math.Abs(got-want) > 1e-9 {
		t.Errorf("found %v, expected %v", got, want)
	}
	x[577] += 0.5
	if got := r.off(x); math.Abs(got-0.5) > 1e-6 {
		t.Errorf("an element changed by 0.5 makes a difference of %g", got)
	}
	if !strings.Contains(fmt.Sprint(r.off(x[1:17])), "Inf") && r.off(x[1:17]) < 0.5 {
		t.Error("a different tensor has the same sketch")
	}
}
