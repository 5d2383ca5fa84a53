package eval

import (
	"slices"
	"strings"

	"winnow/cmd/winnow/term"
	"winnow/eval"
	"winnow/run/measure"
)

// chooseMetrics returns the metrics of --metrics with their settings. all reports whether they are all metrics that the
// data allow. flags maps settings to values, for every metric that has these settings; set holds METRIC.SETTING=VALUE.
// given reports whether the user gave a flag, because a setting must not be given by a flag and by set.
func chooseMetrics(names string, flags map[string]string, set []string,
	given func(flag string) bool) (list []measure.Metric, all bool, err error) {
	var named []string
	for _, name := range strings.Split(names, ",") {
		if name = strings.TrimSpace(name); name == "all" {
			all = true
			continue
		}
		e, err := eval.Find(name)
		if err != nil {
			return nil, all, term.Misused("--metrics: %v, all", err)
		}
		if e.Measure == nil {
			return nil, all, term.Misused("--metrics: %s is not available here: use winnow %s", e.Name, e.Command)
		}
		named = append(named, e.Name)
	}
	settings := map[string]map[string]string{}
	for _, e := range eval.Catalog {
		if e.Measure == nil || !all && !slices.Contains(named, e.Name) {
			continue
		}
		list = append(list, measure.Metric{Entry: e})
		settings[e.Name] = map[string]string{}
		for _, s := range e.Settings {
			if v, ok := flags[s.Name]; ok {
				settings[e.Name][s.Name] = v
			}
		}
	}
	for _, text := range set {
		key, value, ok := strings.Cut(text, "=")
		metric, name, dotted := strings.Cut(key, ".")
		if !ok || !dotted {
			return nil, all, term.Misused("--set: found %q, expected METRIC.SETTING=VALUE", text)
		}
		e, err := eval.Find(metric)
		if err != nil {
			return nil, all, term.Misused("--set: %v", err)
		}
		if settings[e.Name] == nil {
			return nil, all, term.Misused("--set: %s is not among the --metrics", e.Name)
		}
		if what, flag := map[string]string{"k": "K", "queries": "number of queries"}[name]; flag && given(name) {
			return nil, all, term.Misused("--%s and --set %s both set the %s: use only one", name, text, what)
		}
		settings[e.Name][name] = value
	}
	for i, m := range list {
		if list[i], err = measure.NewMetric(m.Name, settings[m.Name]); err != nil {
			return nil, all, term.Misused("--set: %v", err)
		}
	}
	return list, all, nil
}
