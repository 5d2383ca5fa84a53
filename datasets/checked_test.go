package datasets

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func checkedSet(t *testing.T) *Dataset {
	t.Helper()
	d, err := ReadManifest(strings.NewReader("path,label,true_label\na,2,2\nb,10,2\nc,2,10\nd,10,10\ne,,\n"), "m.csv",
		ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A decision about a label that has changed since counts only if it still applies.
func TestMatchChecks(t *testing.T) {
	c := &Checks{File: "d.db", By: map[string]Checked{
		"a": {Given: "2", Right: true},
		"b": {Given: "2", Right: true}, // the label was 2; the new label 10 must be reviewed
		"c": {Given: "10", Label: "2"}, // fixed since
		"d": {Given: "2", Label: "3"},  // changed to another wrong label since
		"x": {Given: "2", Right: true}, // missing in the dataset
		"y": {Given: "2"},              // of no class, dropped from the corrected manifest
		"e": {Given: "", Label: "7"},   // unlabelled at the time
	}}
	d := checkedSet(t)
	m, err := c.Match(d)
	if err != nil {
		t.Fatal(err)
	}
	want := Matched{At: map[int]Checked{0: {Given: "2", Right: true}, 2: {Given: "2", Right: true},
		3: {Given: "10", Label: "3"}, 4: {Given: "", Label: "7"}}, Stale: 1, Gone: 1}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
	made := m.Relabelled(d)
	var labels []string
	for _, s := range made.Samples {
		labels = append(labels, made.LabelName(s))
	}
	if diff := cmp.Diff([]string{"2", "10", "2", "3", "7"}, labels); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"2", "3", "7", "10"}, made.Classes); diff != "" {
		t.Error(diff)
	}
	if y := made.Samples[2].True; made.Classes[y] != "10" || d.LabelName(d.Samples[3]) != "10" {
		t.Error("true labels were mixed up, or the dataset itself changed")
	}
	if diff := cmp.Diff(map[int]Decision{3: {Label: "3"}, 4: {Label: "7"}}, m.Decisions()); diff != "" {
		t.Error(diff)
	}
}

func TestChecksOfOtherImages(t *testing.T) {
	c := &Checks{File: "d.db", By: map[string]Checked{"a": {Given: "2", Right: true}, "x": {Given: "2", Right: true},
		"y": {Given: "2", Right: true}}}
	if _, err := c.Match(checkedSet(t)); err == nil || !strings.Contains(err.Error(), `"x": name a file of decisions`) {
		t.Errorf("found %v", err)
	}
	was := c.Sum()
	c.File = "elsewhere"
	if c.Sum() != was {
		t.Error("the sum depends on the file's name")
	}
	if c.By["a"] = (Checked{Given: "2"}); c.Sum() == was {
		t.Error("another decision has the same sum")
	}
}
