package atlas

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// sample is a map of n points in classes groups; every seventh point has none.
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

func wellFormed(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); err != nil {
			if err.Error() != "EOF" {
				t.Fatalf("%v", err)
			}
			return
		}
	}
}

func TestSVG(t *testing.T) {
	odd := sample(50, 3)
	odd.Points[3].X = odd.Points[4].X
	scale := sample(50, 3)
	scale.Groups, scale.Scale = nil, &Scale{"score", 0, 1}
	for i := range scale.Points {
		scale.Points[i].Score = float64(i) / 49
	}
	scale.Points[0].Score = math.NaN()
	same := Map{Points: []Point{{X: 2, Y: 2, Group: -1}, {X: 2, Y: 2, Group: -1}}}
	for name, m := range map[string]Map{"few": odd, "many": sample(300, 60), "scale": scale, "none": {}, "same": same} {
		var b bytes.Buffer
		if err := m.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		wellFormed(t, text)
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "<map>") {
			t.Errorf("%s: %s", name, text)
		}
		_, points, _ := strings.Cut(text, `<g class="points"`)
		points, _, _ = strings.Cut(points, "</g>")
		if n := strings.Count(points, `<circle class="p `); n != len(m.Points) {
			t.Errorf("%s: %d circles, expected %d", name, n, len(m.Points))
		}
		if signs := strings.Count(text, `<text class="s`); signs != map[string]int{"few": 3}[name] {
			t.Errorf("%s: %d names on the drawing", name, signs)
		}
	}
}

// Points keep their proportions and stay on the drawing; a group's name is where most of the group is.
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
		t.Errorf("a unit is %v wide and %v high", wide, -high)
	}
	for g, sign := range m.placeGroupNames(at) {
		if i := nearestOf(at, sign); m.Points[i].Group != g {
			t.Errorf("the name of group %d stands in group %d", g, m.Points[i].Group)
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

// People with any common kind of colour vision can tell the colours of few groups apart, on the paper they are for. The
// check notices that red and green of the same lightness cannot be told apart.
func TestColoursForAllEyes(t *testing.T) {
	for name, list := range map[string][]string{"light": few[:], "dark": fewDark[:], "pair": pair} {
		if d := nearestColours(list); d < 0.045 {
			t.Errorf("%s: two colours differ by %.3f", name, d)
		}
	}
	if d := nearestColours([]string{"#b05040", "#5f7a35"}); d > 0.045 {
		t.Errorf("red and green were let through: %.3f", d)
	}
	light, dark := Colours(40)
	ramp := scaleColours()
	valid := regexp.MustCompile(`^#[0-9a-f]{6}$`)
	for _, c := range append(append(light, dark...), ramp...) {
		if !valid.MatchString(c) {
			t.Errorf("colour %q", c)
		}
	}
	if d := nearestColours([]string{ramp[0], ramp[shades/2], ramp[shades-1]}); d < 0.1 {
		t.Errorf("the ends of the scale and its middle differ by %.3f", d)
	}
}

// nearestColours is the least distance in OKLab of two colours under normal vision and three simulated dichromacies.
// Source of the matrices: Machado et al., A Physiologically-based Model for Simulation of Color Vision Deficiency
// (2009).
func nearestColours(list []string) float64 {
	least := math.Inf(1)
	for _, eye := range [][9]float64{
		{1, 0, 0, 0, 1, 0, 0, 0, 1},
		{0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
		{0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
		{1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
	} {
		for i := range list {
			for j := range i {
				a, b := labOf(list[i], eye), labOf(list[j], eye)
				least = min(least, math.Sqrt((a[0]-b[0])*(a[0]-b[0])+(a[1]-b[1])*(a[1]-b[1])+(a[2]-b[2])*(a[2]-b[2])))
			}
		}
	}
	return least
}

func labOf(hex string, eye [9]float64) [3]float64 {
	v, _ := strconv.ParseUint(hex[1:], 16, 32)
	var c, e [3]float64
	for k := range c {
		s := float64(v>>(16-8*k)&255) / 255
		if c[k] = math.Pow((s+0.055)/1.055, 2.4); s <= 0.04045 {
			c[k] = s / 12.92
		}
	}
	for k := range e {
		e[k] = min(max(eye[3*k]*c[0]+eye[3*k+1]*c[1]+eye[3*k+2]*c[2], 0), 1)
	}
	l := math.Cbrt(0.4122214708*e[0] + 0.5363325363*e[1] + 0.0514459929*e[2])
	m := math.Cbrt(0.2119034982*e[0] + 0.6806995451*e[1] + 0.1073969566*e[2])
	s := math.Cbrt(0.0883024619*e[0] + 0.2817188376*e[1] + 0.6299787005*e[2])
	return [3]float64{0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s, 0.0259040371*l + 0.7827717662*m - 0.8086757660*s}
}

func TestTable(t *testing.T) {
	m := sample(20, 3)
	m.Points[2].Path, m.Points[2].Score = "a,\"b\"\tc\n.jpg", 0.25
	for _, separator := range []rune{',', '\t'} {
		var b bytes.Buffer
		if err := m.WriteTable(&b, separator, strings.ToUpper, [2]string{"mark", "yes"}); err != nil {
			t.Fatal(err)
		}
		r := csv.NewReader(&b)
		r.Comma = separator
		lines, err := r.ReadAll()
		if err != nil || len(lines) != 21 {
			t.Fatalf("%d lines, %v", len(lines), err)
		}
		x, _ := strconv.ParseFloat(lines[3][1], 64)
		if lines[3][0] != strings.ToUpper(m.Points[2].Path) || lines[3][3] != strings.ToUpper(m.Points[2].Label) ||
			x != m.Points[2].X || lines[3][6] != "0.25" || lines[4][6] != "" ||
			lines[0][7] != "mark" || lines[1][7] != "yes" {
			t.Errorf("%q: %q", lines[0], lines[3])
		}
	}
	var b bytes.Buffer
	if err := m.WriteMetadata(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 21 || lines[3] != `a,"b" c .jpg`+"\tclass <2> & co\t\ttest" {
		t.Errorf("%d lines, %q", len(lines), lines[3])
	}
	b.Reset()
	x := blas32.General{Rows: 2, Cols: 2, Stride: 3, Data: []float32{0.1, -2, 9, 1e-9, 0, 9}}
	if err := WriteTensors(&b, x); err != nil || b.String() != "0.1\t-2\n1e-09\t0\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}
