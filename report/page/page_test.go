package page

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"winnow/eval"
)

// dot is a PNG file of 1 × 1 pixel.
var dot = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU" +
	"\x00\x00\x00\nIDATx\x9cc`\x00\x00\x00\x02\x00\x01H\xaf\xa4q\x00\x00\x00\x00IEND\xaeB`\x82")

func sampleReport() Report {
	pic := func(caption string, good bool) Picture {
		return Picture{Data: dot, Caption: caption, Good: good}
	}
	values := []float64{0.01, 0.02, 0.5, 0.9, 0.95, 1}
	return Report{
		Warnings: []string{"careful <i>"}, Definitions: []Fact{{"P@1", "what & how"}},
		Sections: []Section{{Title: "Part & one", Notes: []string{"a <note>"},
			Tables: []Table{{Caption: "T", Head: []string{"class", "n"}, Rows: [][]string{{"<c>", "3"}}},
				{Caption: "All", Head: []string{"class"}, Rows: [][]string{{"x"}}, Folded: true}}}},
		Title: "A <b>report</b>", Verdict: []string{"It & that."}, K: []int{1, 2, 4},
		Facts: []Fact{{"seed", "1"}},
		Rows: []Row{
			{Name: "frozen", Retrieval: eval.Retrieval{N: 10, PrecisionAt1: 0.5,
				Recall: map[int]float64{1: 0.5, 2: 0.61, 4: 0.7}}},
			{Name: "prism", Strong: true,
				Retrieval: eval.Retrieval{N: 10, PrecisionAt1: 0.875,
					Recall: map[int]float64{1: 0.875, 2: 0.9, 4: 1}}, Detection: &eval.Detection{Wrong: 3,
					AUROC: 0.987}},
		},
		Charts: []Drawing{
			Lines{Frame: Frame{Title: "<loss>"},
				Series: []Line{{Name: "a", X: []float64{0, 1, 2}, Y: []float64{3, math.NaN(), 1}}}},
			Histogram{Frame: Frame{Title: "P", Percent: true},
				Bars: []Bars{Count("clean", values, 0, 1, 4, 0)}},
		},
		Suspects: []SuspectCard{{Picture: pic("x.png", false), Given: "cat", Suggested: "dog", True: "dog",
			Said: "score 0.012", ForGiven: []Picture{pic("a", false)},
			ForSuggested: []Picture{pic("b", false)}}},
		Queries: []QueryCard{{Query: pic("cat", false),
			Nearest: []Picture{pic("cat", true), pic("dog", false)}}},
	}
}

func TestReportHTML(t *testing.T) {
	var out bytes.Buffer
	if err := sampleReport().WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, want := range []string{
		"A &lt;b&gt;report", "It &amp; that.", "87.5", "61.0", "0.987", "label was wrong, suggestion is right",
		"<li>careful &lt;i&gt;</li>", `<a href="#section-1">Part &amp; one</a>`, `<h2 id="section-1">`,
		"a &lt;note&gt;", "<caption>T</caption>", `<th scope="col">class</th>`,
		`<th scope="row">&lt;c&gt;</th><td>3</td>`,
		"<summary>All</summary>", "what &amp; how", `alt="image given as cat"`, `class="hit"`,
		`class="miss"`, `aria-label="miss"`, "1 of 2 hits", "data:image/png;base64,iVBOR", "polyline", "50 %",
		"<figcaption>&lt;loss&gt;</figcaption><svg",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	for _, no := range []string{"NaN", "Inf", "ZgotmplZ", "http://", "https://", "<script"} {
		if strings.Contains(page, no) {
			t.Errorf("the page contains %q", no)
		}
	}
}

// The page mentions supporting images only if a suspect has supporting images.
func TestReportOfSuspectsAlone(t *testing.T) {
	r := sampleReport()
	for _, there := range []bool{true, false} {
		var out bytes.Buffer
		if err := r.WriteHTML(&out); err != nil ||
			strings.Contains(out.String(), "nearest images with either label") != there {
			t.Errorf("%v: expected a sentence about supporting images: %v", err, there)
		}
		r.Suspects[0].ForGiven, r.Suspects[0].ForSuggested = nil, nil
	}
}

// TestReportOfOddParts writes an almost empty report, and a report with unusual class names.
func TestReportOfOddParts(t *testing.T) {
	long := strings.Repeat("überlang-", 60)
	for name, r := range map[string]Report{
		"empty": {},
		"tiny":  {Title: "t", Rows: []Row{{Name: "frozen"}}, K: []int{8}},
		"same": {Suspects: []SuspectCard{{Given: "a", Suggested: "a",
			ForSuggested: []Picture{{Data: dot}}}}},
		"labels": {Suspects: []SuspectCard{{Given: long, Suggested: "<犬>"}},
			Queries: []QueryCard{{Query: Picture{Caption: long}}}},
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
		if name == "same" && (strings.Contains(page, "suggested a") ||
			!strings.Contains(page, "no other label fits better")) {
			t.Error("the page suggests a label although no other label fits better")
		}
		if name == "empty" && strings.Contains(page, "<h2>") {
			t.Error("an empty report has headings")
		}
	}
}
