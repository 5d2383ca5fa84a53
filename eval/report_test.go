package eval

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"
)

// dot is a 1×1 PNG.
var dot = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU\x00\x00\x00\nIDATx\x9cc`\x00\x00\x00\x02\x00\x01H\xaf\xa4q\x00\x00\x00\x00IEND\xaeB`\x82")

func sampleReport() Report {
	pic := func(caption string, good bool) Picture { return Picture{Data: dot, Caption: caption, Good: good} }
	values := []float64{0.01, 0.02, 0.5, 0.9, 0.95, 1}
	return Report{
		Title: "A <b>report</b>", Verdict: []string{"It & that."}, K: []int{1, 2, 4},
		Facts: []Fact{{"seed", "1"}},
		Rows: []ReportRow{
			{Name: "frozen", Retrieval: Retrieval{N: 10, PrecisionAt1: 0.5, Recall: map[int]float64{1: 0.5, 2: 0.61, 4: 0.7}}},
			{Name: "prism", Strong: true, Retrieval: Retrieval{N: 10, PrecisionAt1: 0.875, Recall: map[int]float64{1: 0.875, 2: 0.9, 4: 1}}, Detection: &Detection{AUROC: 0.987}},
		},
		Charts: []Chart{
			{Title: "loss", X: "step", Series: []Series{{Name: "a", X: []float64{0, 1, 2}, Y: []float64{3, math.NaN(), 1}}, {Name: "b", X: []float64{0, 2}, Y: []float64{2, 2}, Tone: 1}}},
			{Title: "P", X: "P_clean", Bars: true, Percent: true, Series: []Series{Histogram("clean", values, 0, 1, 4, 0)}},
			{Title: "empty", Series: []Series{{Name: "nothing"}}},
		},
		Suspects: []SuspectCard{{Picture: pic("x.png", false), Given: "cat", Suggested: "dog", True: "dog", Score: 0.012, ForGiven: []Picture{pic("a", false)}, ForSuggested: []Picture{pic("b", false)}}},
		Queries:  []QueryCard{{Query: pic("cat", false), Nearest: []Picture{pic("cat", true), pic("dog", false)}}},
	}
}

func TestReportHTML(t *testing.T) {
	var out bytes.Buffer
	if err := sampleReport().WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, want := range []string{
		"A &lt;b&gt;report", "It &amp; that.", "87.5", "61.0", "0.987", "wrong, suggestion right",
		`class="mid hit"`, `class="mid miss"`, "data:image/png;base64,iVBOR", "polyline", "50 %",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page holds no %q", want)
		}
	}
	for _, no := range []string{"NaN", "Inf", "ZgotmplZ", "http://", "https://", "<script"} {
		if strings.Contains(page, no) {
			t.Errorf("the page holds %q", no)
		}
	}
	if path := os.Getenv("WINNOW_KEEP_REPORT"); path != "" { // to look at it
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHistogram(t *testing.T) {
	s := Histogram("", []float64{-1, 0.1, 0.3, 0.99, 1, 2}, 0, 1, 4, 0)
	want := []float64{2. / 6, 1. / 6, 0, 3. / 6}
	for i := range want {
		if math.Abs(s.Y[i]-want[i]) > 1e-12 {
			t.Fatalf("heights %v, expected %v", s.Y, want)
		}
	}
}

// Charts of almost nothing, of one number again and again, and of numbers far from each other stay readable.
func TestChartOfOddSeries(t *testing.T) {
	line := func(y ...float64) []Series {
		s := Series{Name: "s", Y: y}
		for i := range y {
			s.X = append(s.X, float64(i))
		}
		return []Series{s}
	}
	for name, c := range map[string]struct {
		chart Chart
		want  string
	}{
		"a point":          {Chart{Series: line(0.5)}, "<circle"},
		"a lone point":     {Chart{Series: line(math.NaN(), 2, math.Inf(1))}, "<circle"},
		"always the same":  {Chart{Series: line(0.8, 0.8, 0.8), Percent: true}, ">80 %<"},
		"all of it":        {Chart{Series: line(1, 1), Percent: true}, ">100 %<"},
		"nothing but zero": {Chart{Series: line(0, 0), Percent: true}, ">0 %<"},
		"large and equal":  {Chart{Series: line(1e18, 1e18)}, "1e+18"},
		"a name in Greek":  {Chart{Title: "\"κ\" & <b>", Series: []Series{{Name: "<λ>"}}}, "&lt;λ&gt;"},
		"a long name":      {Chart{Series: []Series{{Name: strings.Repeat("ü", 99)}, {Name: "b"}}}, ">" + strings.Repeat("ü", 28) + "…<"},
		"no series":        {Chart{Bars: true}, "<svg"},
		"no values":        {Chart{Bars: true, Series: []Series{Histogram("h", nil, 0, 1, 3, 0)}}, "<rect"},
		"not a number":     {Chart{Bars: true, Percent: true, Series: []Series{Histogram("h", []float64{math.NaN(), 0.9}, 0, 1, 2, 0)}}, "<rect"},
	} {
		svg := c.chart.SVG()
		if !strings.Contains(svg, c.want) {
			t.Errorf("%s: no %q in %s", name, c.want, svg)
		}
		for _, no := range []string{"NaN", "Inf", "<b>", ">120 %<", ">150 %<", ">-"} {
			if strings.Contains(svg, no) {
				t.Errorf("%s: %q in %s", name, no, svg)
			}
		}
	}
	if s := Histogram("", []float64{math.NaN(), 0.9}, 0, 1, 2, 0); s.Y[0] != 0 || s.Y[1] != 1 {
		t.Errorf("a value that is no number was counted: %v", s.Y)
	}
}

// The page of a report with almost nothing in it, and with what people call their classes.
func TestReportOfOddParts(t *testing.T) {
	long := strings.Repeat("überlang-", 60)
	for name, r := range map[string]Report{
		"empty":  {},
		"tiny":   {Title: "t", Rows: []ReportRow{{Name: "frozen"}}, K: []int{8}},
		"same":   {Suspects: []SuspectCard{{Given: "a", Suggested: "a", ForSuggested: []Picture{{Data: dot}}}}},
		"labels": {Suspects: []SuspectCard{{Given: long, Suggested: "<犬>", Score: math.NaN()}}, Queries: []QueryCard{{Query: Picture{Caption: long}}}},
	} {
		var out bytes.Buffer
		if err := r.WriteHTML(&out); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		page := out.String()
		if strings.Contains(page, "ZgotmplZ") || strings.Contains(page, "NaN") || strings.Contains(page, "<犬>") {
			t.Errorf("%s: %s", name, page)
		}
		if name == "tiny" && !strings.Contains(page, "<td>–</td><td>0.0</td>") {
			t.Error("a recall that was not measured is shown as a number")
		}
		if name == "same" && (strings.Contains(page, `class="given">`) || !strings.Contains(page, "no other label fits better")) {
			t.Error("a label for which there is no better one is struck out")
		}
		if name == "empty" && strings.Contains(page, "<h2>") {
			t.Error("an empty report has headings")
		}
	}
}
