// Package atlas draws points of a plane that stand for images: as one self-contained page to explore, as SVG, as a
// table, and as the files of TensorBoard's projector.
//
// Colours are never the only mark: groups carry their name on the drawing where there are few, and the page names
// every point. It decodes and reads nothing: pictures come from the caller.
package atlas

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Map is what is drawn.
type Map struct {
	Title  string
	Notes  []string // plain sentences below the title
	Facts  []Fact   // the small print
	Points []Point
	Groups []string // names of the groups that colours show; empty where Scale is given
	Scale  *Scale   // colours show Point.Score instead of groups
}

// Fact is a line of the small print.
type Fact struct{ Name, Value string }

// Point is an image in the plane. What is not known is empty, a score NaN.
type Point struct {
	X, Y  float64
	Group int // position in Groups; below 0: none, drawn grey
	Path  string
	Label string // given
	True  string
	Split string
	Score float64
}

// Scale says what the ends of a range of colours mean.
type Scale struct {
	Name      string
	Low, High float64
}

// side is the drawing's width in its own units, and the most and the least of its height; margin stays free all around.
const (
	side   = 1000.0
	lowest = 560.0
	margin = 24.0
)

// place gives every point its place on the drawing, and says how high that is: one scale for both axes, as distances
// count.
func (m Map) place() (at [][2]float64, height float64) {
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, p := range m.Points {
		for k, v := range [2]float64{p.X, p.Y} {
			low[k], high[k] = min(low[k], v), max(high[k], v)
		}
	}
	width := max(high[0]-low[0], high[1]-low[1])
	if !(width > 0) {
		width = 1
	}
	scale := (side - 2*margin) / width
	height = math.Round(min(max(lowest, (high[1]-low[1])*scale+2*margin), side))
	at = make([][2]float64, len(m.Points))
	for i, p := range m.Points {
		at[i] = [2]float64{side/2 + (p.X-(low[0]+high[0])/2)*scale, height/2 - (p.Y-(low[1]+high[1])/2)*scale}
	}
	return at, height
}

// radius of a point: the more there are, the smaller.
func (m Map) radius() float64 {
	return math.Round(10*min(7, 1.6+80/math.Sqrt(float64(len(m.Points)+1)))) / 10
}

// order is in which order points are drawn: at random, so that no group hides another, the grey ones first.
func (m Map) order() []int {
	order := rand.New(rand.NewPCG(uint64(len(m.Points)), 0x6f72646572)).Perm(len(m.Points)) // "order"
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(min(0, m.shade(a)), min(0, m.shade(b)))
	})
	return order
}

// shades is how many colours a scale has.
const shades = 32

// shade is the number of a point's colour, -1 for grey.
func (m Map) shade(i int) int {
	p := m.Points[i]
	if m.Scale == nil {
		return max(p.Group, -1)
	}
	if math.IsNaN(p.Score) {
		return -1
	}
	return max(0, min(shades-1, int(shades*(p.Score-m.Scale.Low)/(m.Scale.High-m.Scale.Low))))
}

// named is the most groups whose names are written on the drawing.
const named = 24

// signs finds for each group a place to write its name: the point with the most of its own group around it.
func (m Map) signs(at [][2]float64) map[int][2]float64 {
	if m.Scale != nil || len(m.Groups) > named || len(m.Groups) <= len(pair) { // a group and all others lie everywhere
		return nil
	}
	rows := map[int][]int{}
	for i, p := range m.Points {
		if p.Group >= 0 && len(rows[p.Group]) < 1500 { // enough to know where most are
			rows[p.Group] = append(rows[p.Group], i)
		}
	}
	const near = side / 12
	out := map[int][2]float64{}
	for g, members := range rows {
		most := -1.0
		for _, i := range members {
			around := 0.0
			for _, j := range members {
				d := math.Hypot(at[i][0]-at[j][0], at[i][1]-at[j][1])
				around += max(0, 1-d/near)
			}
			if around > most {
				most, out[g] = around, at[i]
			}
		}
	}
	return out
}
