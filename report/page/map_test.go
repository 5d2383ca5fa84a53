package page

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// sample returns a map of n points; every seventh point has no group, and the others are in as many groups as classes.
func sample(n, classes int) Map {
	m := Map{Title: `A <map> & "more"`}
	for k := range classes {
		m.Groups = append(m.Groups, fmt.Sprintf("class <%d> & co", k))
	}
	draw := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		k := i % classes
		p := Point{X: 40*float64(k) + draw.NormFloat64(), Y: 5*float64(k%3) + draw.NormFloat64(), Group: k,
			Path: fmt.Sprintf("a folder/%d </script>.jpg", i), Label: m.Groups[k], Split: "test", Score: math.NaN()}
		if i%7 == 6 {
			p.Group, p.Label = -1, ""
		}
		m.Points = append(m.Points, p)
	}
	return m
}

func TestSVG(t *testing.T) {
	odd := sample(50, 3)
	odd.Points[3].X = odd.Points[4].X
	same := Map{Points: []Point{{X: 2, Y: 2, Group: -1}, {X: 2, Y: 2, Group: -1}}}
	for name, m := range map[string]Map{"few": odd, "many": sample(300, 60), "none": {}, "same": same} {
		var b bytes.Buffer
		if err := m.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		wellFormed(t, name, text)
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "<map>") {
			t.Errorf("%s: %s", name, text)
		}
		_, points, _ := strings.Cut(text, `<g class="points"`)
		points, _, _ = strings.Cut(points, "</g>")
		if n := strings.Count(points, `<circle class="p `); n != len(m.Points) {
			t.Errorf("%s: %d circles, expected %d", name, n, len(m.Points))
		}
		if signs := strings.Count(text, `<text class="s`); signs != map[string]int{"few": 3}[name] {
			t.Errorf("%s: %d group names on the drawing", name, signs)
		}
	}
}

// TestPlace checks that both axes have the same scale, that all points are inside the drawing, and that the name of a
// group is placed among its points.
func TestPlace(t *testing.T) {
	m := sample(400, 4)
	at, height := m.placePoints()
	if height < lowest || height > side {
		t.Errorf("height %v", height)
	}
	for i, p := range at {
		if p[0] < margin-1e-9 || p[0] > side-margin+1e-9 || p[1] < margin-1e-9 || p[1] > height-margin+1e-9 {
			t.Fatalf("point %d at %v", i, p)
		}
	}
	wide, high := (at[1][0]-at[0][0])/(m.Points[1].X-m.Points[0].X), (at[1][1]-at[0][1])/(m.Points[1].Y-m.Points[0].Y)
	if math.Abs(wide+high) > 1e-9 || wide <= 0 {
		t.Errorf("one unit of data is %v wide and %v high", wide, -high)
	}
	for g, sign := range m.placeGroupNames(at) {
		if i := nearestOf(at, sign); m.Points[i].Group != g {
			t.Errorf("the name of group %d is placed in group %d", g, m.Points[i].Group)
		}
	}
}

func nearestOf(at [][2]float64, p [2]float64) (best int) {
	for i := range at {
		if math.Hypot(at[i][0]-p[0], at[i][1]-p[1]) < math.Hypot(at[best][0]-p[0], at[best][1]-p[1]) {
			best = i
		}
	}
	return best
}

func TestTable(t *testing.T) {
	m := sample(20, 3)
	m.Points[2].Path, m.Points[2].Score = "a,\"b\"\tc\n.jpg", 0.25
	var b bytes.Buffer
	if err := m.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(lines) != 21 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	x, _ := strconv.ParseFloat(lines[3][1], 64)
	if lines[3][0] != m.Points[2].Path || lines[3][3] != m.Points[2].Label || x != m.Points[2].X ||
		lines[3][6] != "0.25" || lines[4][6] != "" {
		t.Errorf("%q", lines[3])
	}
}
