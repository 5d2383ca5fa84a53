package run

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/internal/hint"
	"winnow/run/folder"
	"winnow/run/tuning"
	"winnow/train"
)

func TestExplain(t *testing.T) {
	dir := t.TempDir()
	explained := func() error {
		r := &Training{Data: Data{Paths: []string{"a.jpg", "b.jpg"}}, options: Options{Dir: dir},
			backbone: tuning.Stored{}}
		return r.explainError(&train.NonFinite{Step: 1, Epoch: 1, What: "loss", Value: math.NaN(), IDs: []int{1, 0}})
	}
	if err := explained(); !strings.HasPrefix(hint.Of(err), "images: b.jpg, a.jpg;") ||
		strings.Contains(hint.Of(err), folder.BestHeadFile) {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, folder.BestHeadFile), []byte("a head"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := explained(); !strings.Contains(hint.Of(err), "head.winnow is the best before") {
		t.Errorf("%v", err)
	}
}
