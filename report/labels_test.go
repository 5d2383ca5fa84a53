package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"winnow/audit/suspects"
	"winnow/eval"
	"winnow/report/page"
	"winnow/run/inspect"
)

// Without wrong labels in the manifest, the page omits detection measures. Without flagged labels, it shows no
// suspects. The only image of a class has no score.
func TestLabelsOfWhichNoneIsWrong(t *testing.T) {
	images := []suspects.Suspect{
		{Path: "a.png", Given: "cat", Suggested: "cat", Score: 0.5, GivenProbability: new(0.5)},
		{Path: "b.png", Given: "cat", Suggested: "cat", Score: 0.7, GivenProbability: new(0.7)},
		{Path: "c.png", Given: "dog", Suggested: "dog", Score: 1, Unjudged: true},
	}
	r := &Run{name: "a", Split: "test"}
	r.audited = &inspect.Report{Scorer: "fitted", Images: images, Detection: &eval.Detection{Samples: 3, AUROC: 0.5}}
	r.measured.Detection = r.audited.Detection
	text := func() string {
		var b bytes.Buffer
		content := page.Report{Sections: []page.Section{r.describeLabels()},
			Rows: []page.Row{{Name: "trained", Detection: r.measured.Detection}}}
		if err := content.WriteHTML(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	got := text()
	for _, want := range []string{"0 of 3, by the manifest&#39;s true labels", "2; no label is flagged",
		"<dt>not judged</dt><dd>1, alone in their class</dd>"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	if strings.Contains(got, "AUROC") || strings.Contains(got, "precision 0.000") {
		t.Error("detection is measured although no label is wrong")
	}
	if n := len(r.audited.Called()); n != 0 {
		t.Errorf("%d suspects, expected none", n)
	}
	images = slices.Clone(images)
	images[0].Flagged, images[0].True = true, "dog"
	r.audited.Images, r.audited.Detection.Wrong, r.audited.Rate = images, 1, 0.5
	if got := text(); !strings.Contains(got, "AUROC") ||
		!strings.Contains(got, "2; 1 (50.0 %) are flagged") || len(r.audited.Called()) != 1 {
		t.Error("the page does not mention the wrong label")
	}
}
