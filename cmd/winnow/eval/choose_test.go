package eval

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"winnow/run/measure"
)

func TestChoose(t *testing.T) {
	given := func(flag string) bool { return flag == "k" }
	list, all, err := chooseMetrics("linear-probe, retrieval", map[string]string{"k": "1,3"},
		[]string{"linear-probe.iterations=7"}, given)
	if err != nil || all || len(list) != 2 || list[0].Name != "retrieval" || list[1].Values["iterations"] != 7 ||
		fmt.Sprint(list[0].Values["k"]) != "[1 3]" {
		t.Errorf("found %v, %v, %+v", err, all, list)
	}
	if list, all, err = chooseMetrics("all", nil, nil, given); err != nil || !all || len(list) < 4 ||
		slices.ContainsFunc(list, func(m measure.Metric) bool { return m.Measure == nil }) {
		t.Errorf("all: %v, %v, %d metrics", err, all, len(list))
	}
	for set, want := range map[string]string{
		"retrieval.k":           `--set: found "retrieval.k", expected METRIC.SETTING=VALUE`,
		"k=1":                   `--set: found "k=1", expected METRIC.SETTING=VALUE`,
		"retrieval.k=1":         "--k and --set retrieval.k=1 both set the K: use only one",
		"clustering.clusters=3": "--set: clustering is not among the --metrics",
		"retrieval.queries=no":  "--set: ",
	} {
		if _, _, err := chooseMetrics("retrieval", nil, []string{set}, given); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("--set %s: found %v, expected %s", set, err, want)
		}
	}
	for name, want := range map[string]string{"noise-detection": "is not available here: use winnow audit",
		"retrieva": "retrieval"} {
		if _, _, err := chooseMetrics(name, nil, nil, given); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--metrics %s: found %v, expected %s", name, err, want)
		}
	}
}
