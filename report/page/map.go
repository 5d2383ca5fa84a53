package page

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Map is a drawing of points in the plane, coloured by group.
type Map struct {
	Title  string
	Points []Point
	Groups []string // names of the groups that colours show
}

// Caption returns the title.
func (m Map) Caption() string { return m.Title }

// Point is an image in the plane. Texts that are not known are "", and a score that is not known is NaN.
type Point struct {
	X, Y  float64
	Group int // index in Groups; negative: no group, drawn grey
	Path  string
	Label string // given label
	True  string
	Split string
	Score float64
}

// Sizes in SVG units: the width and largest height, the smallest height, and the empty margin on all sides.
const (
	side   = 1000.0
	lowest = 560.0
	margin = 24.0
)

// placePoints returns the position of every point on the drawing, and the drawing's height. Both axes have the same
// scale, so that distances stay comparable.
func (m Map) placePoints() (at [][2]float64, height float64) {
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

// computeRadius returns the radius of the points, which decreases with their number.
func (m Map) computeRadius() float64 {
	return math.Round(10*min(7, 1.6+80/math.Sqrt(float64(len(m.Points)+1)))) / 10
}

// orderPoints returns the order in which points are drawn: first the grey points, then the others in random order, so
// that no group hides another.
func (m Map) orderPoints() []int {
	order := rand.New(rand.NewPCG(uint64(len(m.Points)), 0x6f72646572)).Perm(len(m.Points)) // "order"
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(min(0, m.Points[a].Group), min(0, m.Points[b].Group))
	})
	return order
}

// named is the largest number of groups whose names are written on the drawing.
const named = 24

// placeGroupNames returns a position for each group's name: the point with the most points of its group nearby.
func (m Map) placeGroupNames(at [][2]float64) map[int][2]float64 {
	// If there are two groups, one is often "all others", which is spread over the whole map.
	if len(m.Groups) > named || len(m.Groups) <= len(pair) {
		return nil
	}
	rows := map[int][]int{}
	for i, p := range m.Points {
		if p.Group >= 0 && len(rows[p.Group]) < 1500 { // a limit, because the search below is quadratic
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
