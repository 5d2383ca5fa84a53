package tsne

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"winnow/eval"
)

// A descent that goes on from a state, read back from text, ends at the same bits as one without a break.
func TestGoesOn(t *testing.T) {
	x := clusters(120, 8, 4, 0.5, 3)
	o := Options{Iterations: 60, Early: 20, Seed: 5}
	want, report, err := Embed(t.Context(), x, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []int{1, 20, 41, 60} {
		var text []byte
		stopped := o
		stopped.Stepped = func(s State) {
			if s.Iteration == after {
				text, _ = json.Marshal(s)
			}
		}
		if _, _, err := Embed(t.Context(), x, stopped); err != nil {
			t.Fatal(err)
		}
		again := o
		again.From = &State{}
		if err := json.Unmarshal(text, again.From); err != nil {
			t.Fatal(err)
		}
		got, r, err := Embed(t.Context(), x, again)
		if err != nil || !slices.Equal(got, want) || r.KL != report.KL {
			t.Errorf("after %d iterations: KL %v, expected %v; %v", after, r.KL, report.KL, err)
		}
	}
	bad := func(change func(*State)) *State {
		s := &State{Iteration: 5, Points: make([]Point, 120), Moved: make([]Point, 120), Gained: make([]Point, 120),
			Order: make([]uint32, 120)}
		for i := range s.Order {
			s.Order[i] = uint32(i)
		}
		change(s)
		return s
	}
	for name, s := range map[string]*State{
		"few points":    bad(func(s *State) { s.Points = s.Points[1:] }),
		"no moves":      bad(func(s *State) { s.Moved = nil }),
		"too far":       bad(func(s *State) { s.Iteration = 61 }),
		"before it":     bad(func(s *State) { s.Iteration = 0 }),
		"not a number":  bad(func(s *State) { s.Points[7].X = math.NaN() }),
		"an order":      bad(func(s *State) { s.Order[7] = 8 }),
		"far order":     bad(func(s *State) { s.Order[7] = 120 }),
		"infinite move": bad(func(s *State) { s.Moved[7].Y = math.Inf(1) }),
	} {
		o.From = s
		if _, _, err := Embed(t.Context(), x, o); err == nil || !strings.Contains(err.Error(), "the state") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// New points come to lie among their like, nearer to the goal than where they began; the others keep their bits.
func TestPlace(t *testing.T) {
	const n, classes = 240, 4
	x := clusters(n, 8, classes, 0.3, 7)
	y, _, err := Embed(t.Context(), x, Options{Iterations: 250, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	lone := Point{math.NaN(), math.NaN()}
	sparse := slices.Clone(y)
	for i := 3; i < n; i += 7 {
		sparse[i] = lone
	}
	got := slices.Clone(sparse)
	if err := Place(t.Context(), x, got, Options{}); err != nil {
		t.Fatal(err)
	}
	right, placed := 0, 0
	for i := range y {
		if sparse[i] == sparse[i] {
			if got[i] != y[i] {
				t.Fatalf("point %d moved from %v to %v", i, y[i], got[i])
			}
			continue
		}
		placed++
		best, least := -1, math.Inf(1)
		for j := range y {
			if d := distance2(got[i], y[j]); sparse[j] == sparse[j] && d < least {
				best, least = j, d
			}
		}
		if best%classes == i%classes {
			right++
		}
	}
	if placed < 30 || right < placed*9/10 {
		t.Errorf("%d of %d new points lie nearest to one of their class", right, placed)
	}
	// Taken away and placed again, a point lies about where it was, whatever else is new.
	alone := slices.Clone(y)
	alone[3] = lone
	many := slices.Clone(y)
	many[3], many[4] = lone, lone
	if err := Place(t.Context(), x, many, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := Place(t.Context(), x, alone, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, at := range []Point{alone[3], many[3]} {
		if d := math.Sqrt(distance2(at, y[3])); d > 1 {
			t.Errorf("%.1f off, at %v instead of %v", d, at, y[3])
		}
	}
	same := slices.Clone(y)
	if err := Place(t.Context(), x, same, Options{}); err != nil || !slices.Equal(same, y) {
		t.Errorf("without new points: %v", err)
	}
	for name, c := range map[string][]Point{"expected one for each": y[1:], "at least 5": onlyFew(n, lone, 4),
		"expected finite": append(slices.Clone(y[1:]), Point{math.Inf(1), 0})} {
		if err := Place(t.Context(), x, c, Options{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// onlyFew returns n points, of which only the first few have a place.
func onlyFew(n int, lone Point, few int) []Point {
	y := slices.Repeat([]Point{lone}, n)
	for i := range few {
		y[i] = Point{float64(i), 0}
	}
	return y
}

// settle stops at a minimum: a step in any direction leads away from the goal, computed by loops.
func TestSettle(t *testing.T) {
	x := clusters(80, 6, 2, 0.6, 9)
	y := cloud(80, 4)
	p := slowP(t, x, 15, 5)[0]
	var tr tree
	tr.buildTree(y[1:])
	goal := func(at Point) float64 {
		sum, value := 0.0, 0.0
		for j := 1; j < 80; j++ {
			sum += 1 / (1 + distance2(at, y[j]))
		}
		for j := 1; j < 80; j++ {
			value += p[j] * math.Log((1+distance2(at, y[j]))*sum)
		}
		return value
	}
	whole := 0.0
	for _, v := range p {
		whole += v
	}
	for j := range p {
		p[j] /= whole
	}
	var near []eval.Neighbour
	var weights []float64
	for j := 1; j < 80; j++ {
		if p[j] > 0 {
			near, weights = append(near, eval.Neighbour{Row: j - 1}), append(weights, p[j])
		}
	}
	at := settlePoint(&tr, y[1:], near, weights, 1e-9)
	for _, by := range []Point{{0.01, 0}, {-0.01, 0}, {0, 0.01}, {0, -0.01}} {
		if goal(Point{at.X + by.X, at.Y + by.Y}) < goal(at) {
			t.Errorf("a step by %v leads nearer to the goal", by)
		}
	}
}
