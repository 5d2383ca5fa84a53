package inspect_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/audit"
	"winnow/audit/findings"
	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/eval"
	"winnow/run/folder"
	"winnow/run/inspect"
)

func TestPrintAudit(t *testing.T) {
	half, sure := 0.5, 0.9996
	a := &inspect.Report{Scorer: "centres", Noise: &folder.NoiseRate{Method: "ranks", Rate: 0.25, Low: 0.1, High: 0.4},
		Images: []suspects.Suspect{
			{Rank: 1, Path: "lon\nb.jpg", Given: "dög", Suggested: "cat", Score: 0.0001, SuggestedScore: &sure,
				Dropped: true, Outlier: true},
			{Rank: 2, Path: "a.jpg", Given: "dög", Suggested: "a\nowl", Score: 0.25, SuggestedScore: &half,
				Dropped: true, CopyGroup: 1, CopyVerdict: suspects.Wrong},
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
	want := `rank  given    right  suggested     right  image
   1  dög    < 0.1 %  cat        > 99.9 %  lon\nb.jpg
   2  dög     25.0 %  a\nowl       50.0 %  a.jpg
   3  cat     50.0 %  –                    c.jpg
right: the probability that the label before it is right, by the other images

2 of 4 labels look wrong. Of all labels, between 10 and 40 % may be wrong (0 to 2): systematic mistakes ` +
		`cannot be distinguished from similar classes.
4 images judged by centres
wrong labels: about 25.0 % (95 %: 10.0 to 40.0 %, by ranks)

classes with the most wrong labels, by the estimate
class  images  wrong        95 %  flagged  most often suggested there
dög        12   50 %  25 to 75 %        2  a\nowl (1)

images that fit no class: 1: lon\nb.jpg
copies with other labels, one of them likelier: 1: a.jpg (dög) and x.jpg (cat)
copies whose labels contradict each other: look: 1: c.jpg (cat) and y.jpg (dög)
copies with the same label: 1: d.jpg (cat) and e.jpg (cat)
copies in two splits (a leak): 1: d.jpg (cat) and e.jpg (cat)
classes that look the same as another: 1: dög as cat
classes that look like two: 1: dög
`
	many := *a
	many.Images = make([]suspects.Suspect, findings.AllCompared+1)
	if got := many.Oddities()[1].What; got != "copies with other labels, one of them likelier (95 % of such pairs are "+
		"found in a set this large)" || a.Oddities()[1].What != "copies with other labels, one of them likelier" {
		t.Errorf("of many images %q, of few %q", got, a.Oddities()[1].What)
	}
	var out bytes.Buffer
	a.WriteText(&out, 3)
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	clean := &inspect.Report{Scorer: "centres", Detection: &eval.Detection{Samples: 2, AUROC: 0.5}, Unjudged: 1,
		Images: []suspects.Suspect{
			{Rank: 1, Path: "c.jpg", Given: "cat", Suggested: "cat", Score: 0.5, SuggestedScore: &half},
			{Rank: 2, Path: "d.jpg", Given: "dog", Suggested: "dog", Score: 1, SuggestedScore: &sure, Unjudged: true}}}
	out.Reset()
	if clean.WriteText(&out, 2); strings.Contains(out.String(), "AUROC") || strings.Contains(out.String(), "99.9") ||
		!strings.Contains(out.String(), "none of 2 labels is wrong") ||
		!strings.Contains(out.String(), "dog    not judged  –") {
		t.Errorf("no wrong label, one alone in its class:\n%s", out.String())
	}
	out.Reset()
	a.Scorer, a.Noise, a.Classes = "knn", nil, nil
	a.WriteText(&out, 1)
	want = `rank  given   score  suggested  score  image
   1  dög    0.0001  cat            1  lon\nb.jpg
scores of knn rank labels, the lowest most suspect; they are no probabilities

2 of 4 labels look wrong. How many are wrong is not known.
4 images judged by knn
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("without probabilities (-want +got):\n%s", diff)
	}
	out.Reset()
	a.Scorer = audit.Probabilities
	if a.WriteText(&out, 1); strings.Contains(out.String(), "scores of probabilities are") ||
		!strings.Contains(out.String(), "scores by given probabilities rank labels") {
		t.Errorf("by given probabilities:\n%s", out.String())
	}
}
