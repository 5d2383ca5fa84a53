package report

import (
	"path/filepath"
	"testing"

	"winnow/audit/suspects"
)

// Scores are found by the images' paths, in a file for spreadsheets too; of images that are not judged there are none.
func TestReadScores(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.csv")
	if err := suspects.WriteSpreadsheet(file, []suspects.Entry{{Rank: 1, Path: "=1.jpg", Given: "a", Suggested: "b", Score: 0.25}, {Rank: 2, Path: "alone.jpg", Given: "c", Score: 1, Unjudged: true}}); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadScores(file); err != nil || len(got) != 1 || got["=1.jpg"] != 0.25 {
		t.Errorf("%v, %v", got, err)
	}
}
