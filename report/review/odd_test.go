package review

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/audit/suspects"
	"winnow/datasets"
)

// TestOddNamesOnThePage checks that unusual names are the same on the page as in the manifest, that decisions do not
// confuse similar names, and that the corrected manifest has the same bytes.
func TestOddNamesOnThePage(t *testing.T) {
	labels := []string{"tench", "tench ", " tench", "Tench", "caf\u00e9", "cafe\u0301", "1", "1.0", "nan", "None",
		"=cmd()", "a,b", `q"t'`, "\ufb01sh", "-"}
	w := &world{t: t, dir: t.TempDir(), finder: &fakeFinder{}}
	w.manifest = filepath.Join(w.dir, "m.csv")
	var text strings.Builder
	rows := csv.NewWriter(&text)
	_ = rows.Write([]string{"path", "label"}) // a strings.Builder never fails
	for i, label := range labels {
		path := fmt.Sprintf("%s/%d .jpg", label, i)
		_ = rows.Write([]string{path, label})
		w.list = append(w.list, suspects.Suspect{Rank: i + 1, Path: path, Given: label, Score: float64(i) / 100,
			Suggested: labels[(i+1)%len(labels)], Flagged: true})
	}
	rows.Flush()
	w.write("m.csv", text.String())
	w.open(nil)
	t.Cleanup(w.close)
	var page struct{ Rows []row }
	w.must("GET", "/api/rows?limit=60", "", &page)
	var list []map[string]any
	for i, r := range page.Rows {
		e := w.list[i]
		if r.Path != e.Path || r.Given != e.Given || r.Suggested != e.Suggested {
			t.Errorf("row %d: %q, %q, %q, expected %q, %q, %q", i, r.Path, r.Given, r.Suggested, e.Path, e.Given, e.Suggested)
		}
		list = append(list, on(int(r.ID), "relabel", r.Suggested, 0))
	}
	w.decide("t", 200, list...)
	_, mended := w.ask("GET", "/api/export.csv", "", nil)
	d, err := datasets.ReadManifest(strings.NewReader(mended), "m", datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for i, s := range d.Samples {
		got, want = append(got, s.Path, d.LabelName(s)), append(want, w.list[i].Path, w.list[i].Suggested)
	}
	if diff := cmp.Diff(want, got); diff != "" || len(d.Samples) != len(labels) {
		t.Errorf("corrected manifest (-want +got):\n%s", diff)
	}
}
