package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets"
)

// TestDataTopline turns a noisy manifest into a smaller clean one and keeps other splits and columns.
func TestDataTopline(t *testing.T) {
	dir := t.TempDir()
	noisy, out := filepath.Join(dir, "noisy.csv"), filepath.Join(dir, "out.csv")
	text := "path,label,split,true_label,place\n"
	for i := range 120 {
		text += fmt.Sprintf("%d.png,%d,train,%d,here%d\n", i, (i+i%3)%6, i%6, i)
	}
	text += "t.png,0,test,0,there\nlone.png,9,train,9,here\n"
	writeTree(t, dir, map[string]string{"noisy.csv": text})
	code, stdout, errs := call(t.Context(), "data", "topline", noisy, "--noise-rate", "0.3", "--seed", "3", "--json",
		"--out", out)
	var report datasets.ToplineReport
	if err := json.Unmarshal([]byte(stdout), &report); code != 0 || err != nil || errs != "" {
		t.Fatalf("exit code %d: %s%v", code, errs, err)
	}
	d, err := datasets.ReadFile(out, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if report.Images != 121 || report.Kept != 6*14+1 || report.Relabeled != 80 || len(report.Lone) != 1 ||
		len(d.Samples) != 86 {
		t.Errorf("found %+v and %d images, expected 85 of 121, one class alone, and one test image", report,
			len(d.Samples))
	}
	for _, s := range d.Samples {
		var i int
		if _, err := fmt.Sscanf(s.Path, "%d.png", &i); err == nil && (d.Classes[s.Label] != fmt.Sprint(i%6) ||
			s.Extra[0] != fmt.Sprint("here", i)) {
			t.Errorf("%s: label %s, place %s", s.Path, d.Classes[s.Label], s.Extra[0])
		}
	}
	clean := filepath.Join(dir, "clean.csv")
	writeTree(t, dir, map[string]string{
		"clean.csv": "path,label,split\na,0,train\nb,0,train\nc,0,train\nd,1,train\ne,1,train\nf,1,train\n"})
	code, stdout, errs = call(t.Context(), "data", "topline", clean, "--noise-rate", "0.9", "--out", out)
	if code != 0 || !strings.Contains(stdout, "train: 4 of 6 images kept (66.67 %), in 2 classes of 2 to 2; of all 6 "+
		"labels 0 were wrong\n2 class(es) keep more") ||
		!strings.Contains(errs, "the given ones are taken for true") {
		t.Errorf("exit code %d: %s%s", code, stdout, errs)
	}
	for line, want := range map[string]string{
		noisy + " --noise-rate 0.3":                             "--out missing",
		noisy + " --noise-rate 1 --out x.csv":                   "noise rate is 1",
		noisy + " --noise-rate 0.3 --split nowhere --out x.csv": "--split",
		"--noise-rate 0.3 --out x.csv":                          "expected one manifest",
	} {
		fails(t, 2, want, append([]string{"data", "topline"}, strings.Fields(line)...)...)
	}
}
