package report_test

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/classnames"
	"winnow/internal/lookup"
	"winnow/report"
	"winnow/run/folder"
	"winnow/run/inspect"
)

// TestAuditedPage checks that the audit page shows only flagged labels, uses class names, and escapes labels and paths.
func TestAuditedPage(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"<i>a.png", "b.png"} {
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, image.NewGray(image.Rect(0, 0, 300, 200))); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	h := report.Host{Note: t.Logf, Watch: func(string) (func(int, int), func()) { return func(int, int) {}, func() {} },
		Winnow: "9.9"}
	a := &inspect.Report{Scorer: "fitted", Model: "mobile", Rate: 0.5,
		Noise: &folder.NoiseRate{Rate: 0.5, Low: 0.2, High: 0.8},
		Images: []suspects.Suspect{
			{Rank: 1, Path: "<i>a.png", Given: "<b>cat", Suggested: "dog", Score: 1.9e-109,
				GivenProbability: new(1.9e-109), Flagged: true, SupportGiven: []suspects.Near{{Path: "b.png"}},
				SupportSuggested: []suspects.Near{{Path: "gone.png"}}},
			{Rank: 2, Path: "b.png", Given: "<b>cat", Suggested: "dog", Score: 0.03, GivenProbability: new(0.03),
				Flagged: true, Outlier: true, Fit: new(-4.25), CopyGroup: 1, CopyVerdict: suspects.Wrong},
			{Rank: 3, Path: "fine.png", Given: "dog", Suggested: "dog", Score: 0.99, CopyGroup: 1,
				CopyVerdict: suspects.Kept, Problems: []suspects.Problem{{Kind: "dark", Why: "<i>night"}}},
			{Rank: 4, Path: "good.png", Given: "dog", Suggested: "dog", Score: 1},
		},
		Groups: []datasets.Duplicates{{Paths: []string{"b.png", "fine.png"}, Labels: []string{"<b>cat", "dog"},
			LabelsVary: true, Leak: true}},
		Classes: []inspect.Class{{Class: "<b>cat", Images: 2, Purity: 0.25, Low: 0.1, High: 0.5}},
		LeftOut: []lookup.LeftOut{{Path: "bad.png", Reason: "not an image"}},
	}
	read := func() string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "page.html")
		if err := report.WriteAudited(t.Context(), h, a, file, "winnow studio '<x>'"); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	a.Names = classnames.Names{"dog": "Canis", "<b>cat": "Felis"}
	if named := read(); !strings.Contains(named, "Canis, 2 of 2") || !strings.Contains(named, "Canis is likelier") ||
		strings.Contains(named, "b&gt;cat") || strings.Contains(named, ">dog") {
		t.Error("the page shows labels instead of class names")
	}
	a.Names = nil
	page := read()
	for _, want := range []string{"2 of 4 labels look wrong.", "and are not counted",
		"<code>winnow studio &#39;&lt;x&gt;&#39;</code>", `<span class="num">&lt; 0.1 % right</span>`,
		`<span class="num">3.0 % right</span>`, "&lt;b&gt;cat", "75 (50 to 90)", "dog, 2 of 2", "bad.png: not an image",
		"winnow 9.9",
		`<span class="tag outlier">labels contradict</span><span class="tag outlier">in two splits</span>` +
			"dog is likelier",
		"fit -4.2", `<span class="tag outlier">dark</span>&lt;i&gt;night`, `href="#gallery-3">Images with problems`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q on the page", want)
		}
	}
	for _, bad := range []string{"<b>cat", "<i>a", "e-109", "AUROC", "good.png"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q is on the page", bad)
		}
	}
	if n := strings.Count(page, "data:image/jpeg"); n != 5 { // two suspects, a neighbour, a duplicate and an outlier
		t.Errorf("%d images, expected 5", n)
	}
	if suspects, where := strings.Index(page, `<h2 id="suspects"`),
		strings.Index(page, "Where they are</h2>"); suspects < 0 || suspects > where {
		t.Errorf("suspects at offset %d, the section about classes at %d, expected the suspects first", suspects, where)
	}
	for i := range a.Images {
		a.Images[i].Flagged, a.Images[i].Outlier, a.Images[i].Problems = false, false, nil
	}
	a.Groups = nil
	a.Rate, a.Noise.Rate = 0, 0
	if page := read(); !strings.Contains(page, "None of 4 labels looks wrong") ||
		strings.Contains(page, `id="suspects"`) || strings.Contains(page, "data:image/jpeg") {
		t.Error("the page shows suspects although no label is flagged")
	}
}
