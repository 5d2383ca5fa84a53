package report

import (
	"path/filepath"
	"slices"
	"testing"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/report/page"
)

// TestReadScores checks that scores are returned by image path and that unscored images are left out.
func TestReadScores(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.csv")
	if err := suspects.WriteFile(file,
		[]suspects.Suspect{{Rank: 1, Path: "=1.jpg", Given: "a", Suggested: "b", Score: 0.25, Flagged: true},
			{Rank: 2, Path: "alone.jpg", Given: "c", Suggested: "c", Score: 1, Unjudged: true}}); err != nil {
		t.Fatal(err)
	}
	if got, _, err := ReadScores(file); err != nil || len(got) != 1 || got["=1.jpg"] != (Score{0.25, true}) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestGroups checks the groups for each value of --color; a point whose value is not known belongs to no group.
func TestGroups(t *testing.T) {
	d := &datasets.Dataset{Classes: []string{"a", "b", "c"}}
	points := []page.Point{{Path: "1", Label: "a"}, {Path: "2", Label: "b"}, {Path: "3", Label: "c"}, {Path: "4"}}
	scores := map[string]Score{"1": {0.1, true}, "2": {0.2, false}, "4": {0.9, false}}
	for _, c := range []struct {
		colour string
		groups []string
		of     []int
	}{
		{ColourSuspect, []string{"flagged", "not flagged"}, []int{0, 1, -1, 1}},
		{ColourLabel, []string{"a", "b", "c"}, []int{0, 1, 2, -1}},
	} {
		m := page.Map{Points: slices.Clone(points)}
		if err := groupPoints(&m, MapOptions{Colour: c.colour, Scores: scores}, d); err != nil {
			t.Fatal(err)
		}
		var of []int
		for _, p := range m.Points {
			of = append(of, p.Group)
		}
		if !slices.Equal(m.Groups, c.groups) || !slices.Equal(of, c.of) {
			t.Errorf("%s: %v in groups %v, expected %v in %v", c.colour, of, m.Groups, c.of, c.groups)
		}
	}
}
