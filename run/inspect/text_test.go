package inspect_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/audit/findings"
	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/run/folder"
	"winnow/run/inspect"
)

func TestPrintAudit(t *testing.T) {
	half, sure := 0.5, 0.9996
	a := &inspect.Report{Scorer: "centres", Noise: &folder.NoiseRate{Method: "ranks", Rate: 0.25, Low: 0.1, High: 0.4},
		Images: []suspects.Suspect{
			{Rank: 1, Path: "lon\nb.jpg", Given: "dög", Suggested: "cat", Score: 0.0001, SuggestedScore: &sure,
				Flagged: true, Outlier: true},
			{Rank: 2, Path: "a.jpg", Given: "dög", Suggested: "a\nowl", Score: 0.25, SuggestedScore: &half,
				Flagged: true, CopyGroup: 1, CopyVerdict: suspects.Wrong},
			{Rank: 3, Path: "c.jpg", Given: "cat", Suggested: "cat", Score: 0.5, SuggestedScore: &half, CopyGroup: 2,
				CopyVerdict: suspects.Look},
			{Rank: 4, Path: "d.jpg", Given: "cat", Suggested: "cat", Score: 1, SuggestedScore: &sure, CopyGroup: 3},
		}, Groups: []datasets.Duplicates{
			{Paths: []string{"a.jpg", "x.jpg"}, Labels: []string{"dög", "cat"}, LabelsVary: true},
			{Paths: []string{"c.jpg", "y.jpg"}, Labels: []string{"cat", "dög"}, LabelsVary: true},
			{Paths: []string{"d.jpg", "e.jpg"}, Labels: []string{"cat", "cat"}, Leak: true},
		}, Classes: []inspect.Class{
			{Class: "cat", Images: 2, Purity: 1, Low: 0.6, High: 1}, {Class: "dög", Images: 12, Purity: 0.5, Low: 0.25,
				High: 0.75, Like: "cat", Same: true, Two: true},
		}}
	const want = `2 of 4 labels look wrong.
Expect 0 to 2 of these 2 to be wrong (95 % confidence); for 1 of them the probability is above 99 %.
The first 3 of the list are worth a review: each may be wrong with a probability of 20 % or more.
Errors that people repeat, such as one class taken for another, look like similar classes and are not counted.
Most are in dög (2 of 2).

most suspect  given  suggested  given is right
lon\nb.jpg    dög    cat               < 0.1 %
a.jpg         dög    a\nowl             25.0 %

images that fit no class: 1, for example lon\nb.jpg
duplicates (copies) with different labels, one of them likelier: 1, for example a.jpg (dög) and x.jpg (cat)
duplicates (copies) with different labels, decide by eye: 1, for example c.jpg (cat) and y.jpg (dög)
duplicates with the same label: 1, for example d.jpg (cat) and e.jpg (cat)
duplicates in two splits (a leak): 1, for example d.jpg (cat) and e.jpg (cat)
classes that look the same as another: 1, for example dög as cat
classes that look like two: 1, for example dög

4 images scored by centres
`
	many := *a
	many.Images = make([]suspects.Suspect, findings.AllCompared+1)
	if got := many.Oddities()[1].What; got != a.Oddities()[1].What+
		" (in a set this large, the search finds 95 % of such pairs)" {
		t.Errorf("of many images %q, of few %q", got, a.Oddities()[1].What)
	}
	var out bytes.Buffer
	a.WriteText(&out, 3)
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
