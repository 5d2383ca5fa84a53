package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// wellFormed fails the test unless the drawing is well-formed XML.
func wellFormed(t *testing.T, name, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s: %v in %s", name, err, svg)
		}
	}
}

func drawn(t *testing.T, d Drawing) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSamplesAreWellFormed(t *testing.T) {
	for name, d := range samples() {
		svg := drawn(t, d)
		wellFormed(t, name, svg)
		for _, no := range []string{"NaN", "Inf", "<script", "https://"} {
			if strings.Contains(svg, no) {
				t.Errorf("%s contains %q", name, no)
			}
		}
		if strings.Contains(Inline(d), "http://") || !strings.Contains(svg, nameSpace) {
			t.Errorf("%s: the XML namespace must be in the file and not in the page", name)
		}
	}
}

// TestOddSeries checks charts without points, with one repeated value, and with values of very different sizes.
func TestOddSeries(t *testing.T) {
	line := func(f Frame, y ...float64) Drawing {
		s := Line{Name: "s", Y: y}
		for i := range y {
			s.X = append(s.X, float64(i))
		}
		return Lines{f, []Line{s}}
	}
	bars := func(values ...float64) Drawing {
		return Histogram{Frame{Percent: true}, []Bars{Count("h", values, 0, 1, 2, 0)}}
	}
	for name, c := range map[string]struct {
		d    Drawing
		want string
	}{
		"a point":          {line(Frame{}, 0.5), "<circle"},
		"a lone point":     {line(Frame{}, math.NaN(), 2, math.Inf(1)), "<circle"},
		"always the same":  {line(Frame{Percent: true}, 0.8, 0.8, 0.8), ">80 %<"},
		"all of it":        {line(Frame{Percent: true}, 1, 1), ">100 %<"},
		"nothing but zero": {line(Frame{Percent: true}, 0, 0), ">0 %<"},
		"large and equal":  {line(Frame{}, 1e18, 1e18), "1e+18"},
		"thousands":        {line(Frame{}, 0, 50000), ">40k<"},
		"negative":         {line(Frame{}, -2, 2), ">−2<"},
		"Greek": {Lines{Frame: Frame{Title: "\"κ\" & <b>", X: "<x>", Y: "<y>"},
			Series: []Line{{Name: "<λ>"}}}, "&lt;λ&gt;"},
		"a long name":  {Lines{Series: []Line{{Name: strings.Repeat("ü", 199)}, {Name: "b"}}}, "ü…<"},
		"no series":    {Histogram{}, "<svg"},
		"no values":    {bars(), "<svg"},
		"not a number": {bars(math.NaN(), 0.9), "<rect class=\"wn-bar\""},
		"no boxes":     {Boxes{}, "<svg"},
		"an empty box": {Boxes{Places: []Place{{Name: "p", Boxes: []Box{BoxOf("b", nil, 0)}}}}, ">p<"},
		"one value": {Boxes{Places: []Place{{Name: "p", Boxes: []Box{BoxOf("b", []float64{3}, 0)}}}},
			"wn-median"},
		"logarithm of 0": {line(Frame{LogY: true}, 0, 1, 10, -3), "wn-line"},
		"logarithms":     {line(Frame{LogY: true}, 1e-9, 1e9), ">100k<"},
		"logarithmic bars": {Histogram{Frame{LogY: true},
			[]Bars{{Name: "h", Edges: []float64{0, 1, 2, 3}, Heights: []float64{0, 1e-4, 1}}}}, ">0.01<"},
		"a mark outside": {Histogram{Frame{Marks: []Mark{{7, "far"}}},
			[]Bars{Count("h", []float64{0.5}, 0, 1, 2, 0)}}, "<rect"},
	} {
		svg := drawn(t, c.d)
		wellFormed(t, name, svg)
		if !strings.Contains(svg, c.want) {
			t.Errorf("%s: no %q in %s", name, c.want, svg)
		}
		for _, no := range []string{"NaN", "Inf", "<b>", ">120 %<", ">150 %<", ">far<"} {
			if strings.Contains(svg, no) {
				t.Errorf("%s: %q in %s", name, no, svg)
			}
		}
	}
}

func TestCount(t *testing.T) {
	b := Count("", []float64{-1, 0.1, 0.3, 0.99, 1, 2, math.NaN(), math.Inf(1)}, 0, 1, 4, 0)
	want := []float64{2. / 7, 1. / 7, 0, 4. / 7}
	for i := range want {
		if math.Abs(b.Heights[i]-want[i]) > 1e-12 {
			t.Fatalf("heights %v, expected %v", b.Heights, want)
		}
	}
	if len(b.Edges) != 5 || b.Edges[4] != 1 {
		t.Errorf("edges %v", b.Edges)
	}
}

// TestPlaces checks the pixel positions of values on a linear and on a logarithmic axis.
func TestPlaces(t *testing.T) {
	c := newCanvas(Frame{}, (&span{from: 0, to: 10}).newAxis(false, false, false),
		(&span{from: 1, to: 1000, log: true}).newAxis(false, false, false), nil)
	if got, want := c.px(2.5), c.left+c.plotW/4; math.Abs(got-want) > 1e-9 {
		t.Errorf("2.5 of 10 is at %v, expected %v", got, want)
	}
	if up, down := c.py(1)-c.py(10), c.py(10)-c.py(100); math.Abs(up-down) > 1e-9 || up <= 0 {
		t.Errorf("powers of ten are %v and %v apart", up, down)
	}
	long := make([]float64, 10000)
	at := make([]float64, len(long))
	for i := range at {
		at[i] = float64(i)
	}
	long[5003], long[7001] = 9, -9
	_, ys := thinLine(at, long)
	var least, most float64
	for _, y := range ys {
		least, most = math.Min(least, y), math.Max(most, y)
	}
	if len(ys) > maxPoints || least != -9 || most != 9 {
		t.Errorf("thinning left %d points between %v and %v", len(ys), least, most)
	}
}

func TestBoxOf(t *testing.T) {
	b := BoxOf("x", []float64{9, 1, 2, math.NaN(), 3, 4, 100, -50}, 2)
	if b.Low != 1 || b.Q1 != 1.5 || b.Median != 3 || b.Q3 != 6.5 || b.High != 9 || len(b.Beyond) != 2 {
		t.Errorf("%+v", b)
	}
}
