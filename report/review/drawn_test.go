package review

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/location"
)

// TestDrawn checks that the random draw is the same each time, whatever the audit's ranks are, and covers all ranks.
func TestDrawn(t *testing.T) {
	w := newWorld(t, 200)
	d, err := datasets.ReadFile(w.manifest, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	draw := func(list []suspects.Suspect, n int) (paths []string, flagged int) {
		file := filepath.Join(w.dir, "drawn.csv")
		if err := suspects.WriteFile(file, list); err != nil {
			t.Fatal(err)
		}
		a, err := readDrawn(file, location.At(w.manifest), d, n)
		if err != nil {
			t.Fatal(err)
		}
		return a.listFirstPaths(min(n, a.table.audited)), a.table.kinds[suspect]
	}
	first, flagged := draw(w.list, 60)
	calm := append([]suspects.Suspect{}, w.list...)
	for i := range calm {
		calm[i].Flagged, calm[i].Score = false, 1
	}
	again, _ := draw(calm, 60)
	if len(first) != 60 || flagged != 60 || fmt.Sprint(first) != fmt.Sprint(again) {
		t.Errorf("%d drawn, %d to decide, then\n%v\n%v", len(first), flagged, first, again)
	}
	rank := map[string]int{}
	for _, e := range w.list {
		rank[e.Path] = e.Rank
	}
	sum := 0
	for _, path := range first {
		sum += rank[path]
	}
	if mean := float64(sum) / 60; mean < 70 || mean > 130 {
		t.Errorf("the mean rank is %v of 200", mean)
	}
	if all, _ := draw(w.list, 500); len(all) != len(w.list) {
		t.Errorf("%d of %d drawn", len(all), len(w.list))
	}
	if said := shareOf(6, 60).describeShare(); !strings.Contains(said, "6 of 60") ||
		!strings.Contains(said, "5 to 20 %") {
		t.Errorf("6 of 60: %s", said)
	}
}
