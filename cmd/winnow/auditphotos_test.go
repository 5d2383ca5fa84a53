package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets/glyphs"
)

// TestAuditPhotos audits a folder of images. The command must print the result and a working next command, and write
// the suspects, the features and a page. --json must have the same fields as for every audit.
func TestAuditPhotos(t *testing.T) {
	needRuntime(t)
	t.Chdir(t.TempDir())
	d, files, err := glyphs.New(glyphs.Config{Classes: 12, Images: 8, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range d.Samples {
		class := s.Label
		if i%8 == 0 && class < 2 {
			class++
		}
		data, err := fs.ReadFile(files, s.Path)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join("my photos", d.Classes[class])
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, fmt.Sprintf("%d-%d.png", s.Label, i%8)), string(data))
	}
	code, out, stderr := call(context.Background(), "audit", "my photos/", "--scorer", "fitted", "--noise-rate", "0.03")
	if code != 0 {
		t.Fatalf("%d: %s", code, stderr)
	}
	const next = "winnow studio suspects.csv --manifest 'my photos' --features suspects.features --out fixed/"
	holds(t, out, "2 of 96 labels are flagged, as many as asked for", "given is right\n",
		"all images, most suspect first: suspects.csv\n", "report: suspects.html\n", "next: "+next+"\n")
	if page := readFile(t, "suspects.html"); strings.Count(page, `class="card case"`) != 2 || !strings.Contains(page,
		"data:image/png") {
		t.Errorf("the page does not show the two suspects: %.300s", page)
	}
	fails(t, 2, "--listen", "studio", "suspects.csv", "--manifest", "my photos", "--features", "suspects.features",
		"--out", "fixed.csv", "--listen", "nowhere")
	code, out, stderr = call(context.Background(), "audit", "my photos", "--scorer", "fitted", "--split", "train",
		"--json", "--clean", "clean.csv", "--drop")
	var a struct {
		Scorer         string
		Rate           float64
		Detection      *struct{ AUROC float64 }
		EstimatedNoise *struct{ Rate, Low, High float64 } `json:"estimated_noise"`
		Images         []struct{ Path string }
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil || code != 0 || a.Scorer != "fitted" || a.Detection != nil ||
		a.EstimatedNoise == nil || len(a.Images) != 96 {
		t.Errorf("%d, %v: %s of %d images, %+v: %s", code, err, a.Scorer, len(a.Images), a.EstimatedNoise, stderr)
	}
	if !strings.Contains(stderr, "are reused") || !strings.Contains(stderr, "clean.csv: ") {
		t.Errorf("%s", stderr)
	}
}
