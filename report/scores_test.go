package report

import (
	"path/filepath"
	"testing"

	"winnow/audit/suspects"
)

// Scores are found by the images' paths, in a file for spreadsheets too.
func TestReadScores(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.csv")
	if err := suspects.WriteSpreadsheet(file, []suspects.Entry{{Rank: 1, Path: "=1.jpg", Given: "a", Suggested: "b", Score: 0.25}}); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadScores(file); err != nil || got["=1.jpg"] != 0.25 {
		t.Errorf("%v, %v", got, err)
	}
}
