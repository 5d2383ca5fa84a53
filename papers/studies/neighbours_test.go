package studies

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// The page shows what each trained row finds for a query, one row below the other, for the lowest seed, with hits and
// misses marked.
func TestNeighboursOnThePage(t *testing.T) {
	text := strings.Replace(example, "columns:\n", "chart: {kind: neighbours}\ncolumns:\n", 1)
	text = strings.Replace(text, "rows:\n", "rows:\n  - {name: as stored, untrained: frozen}\n", 1)
	r := NewResults(parsed(t, text), "birds.csv", true)
	for row := range 3 {
		for _, seed := range []uint64{2, 1} {
			near := []Near{
				{Path: "b/right.png", Class: "wren", Similarity: 0.5, Hit: true},
				{Path: "b/wrong.png", Class: "jay", Similarity: 0.25},
			}
			if seed == 2 {
				near[0].Path = "b/other.png"
			}
			r.Add(Cell{Row: row, Seed: seed}, Outcome{
				Seed: seed, Measures: map[string]float64{"p@1": 1},
				Queries: []Query{{"a/asks.png", "wren", near}, {"a/asks too.png", "jay", near[1:]}},
			})
		}
	}
	if got := r.Shown(0); len(got) != 2*(3+2) || slices.Contains(got, "b/other.png") ||
		!slices.Contains(got, "b/wrong.png") || len(r.Shown(1)) != 0 {
		t.Errorf("shown: %q", got)
	}
	page := func() string {
		var b bytes.Buffer
		if err := r.HTML(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	html := page()
	for text, want := range map[string]int{
		`<p class="by">plain, ten</p>`: 2, `<p class="by">filtered, ten</p>`: 2, "as stored</p>": 0,
		`class="hit"`: 2, `class="miss"`: 4, "1 of 2 hits": 2, "0 of 1 hits": 2,
		"no picture": 2 * (3 + 2), "b/<wbr>wrong.<wbr>png": 4, `<img class="mid`: 0, ">0.500<": 2,
	} {
		if n := strings.Count(html, text); n != want {
			t.Errorf("%q is on the page %d times, expected %d", text, n, want)
		}
	}
	filtered := strings.Index(html, ">filtered, ten</p>")
	if strings.Index(html, ">plain, ten</p>") > filtered || strings.LastIndex(html, ">plain, ten</p>") < filtered {
		t.Error("the rows of a query are not one below the other")
	}
	r.Pictures = []map[string][]byte{{"b/right.png": []byte("\xff\xd8jpeg")}, nil}
	if html = page(); strings.Count(html, `<img class="mid`) != 2 {
		t.Errorf("%d pictures of one that two rows found", strings.Count(html, `<img class="mid`))
	}
	r.Study.Chart = nil
	if html = page(); strings.Contains(html, `class="by"`) {
		t.Error("a study without neighbours shows some")
	}
}
