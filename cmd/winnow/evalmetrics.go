package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/eval"
	"winnow/head"
	"winnow/run/comparison"
)

// chosenMetric is a metric with its settings.
type chosenMetric struct {
	eval.Entry
	values eval.Values
}

// chosenMetrics are those to measure, in the catalog's order.
type chosenMetrics struct {
	list []chosenMetric
	all  bool  // whatever can be measured; otherwise each was named, and one that cannot be is an error
	mem  int64 // bytes of similarities held at once
}

// measured is a metric's result for each row of the comparison.
type measured struct {
	Settings eval.Values `json:"settings"`
	Seed     *uint64     `json:"seed,omitempty"`      // where anything is drawn
	FittedOn string      `json:"fitted_on,omitempty"` // split
	Frozen   eval.Result `json:"frozen"`
	Whitened eval.Result `json:"whitened"`
	Trained  eval.Result `json:"trained"`
}

// chooseMetrics reads --metrics and all that bears on them.
func chooseMetrics(c *cli.Context) (chosenMetrics, error) {
	opts, err := retrievalOptions(c)
	if err != nil {
		return chosenMetrics{}, err
	}
	out := chosenMetrics{mem: opts.MaxMem}
	for _, name := range strings.Split(c.String("metrics"), ",") {
		if name = strings.TrimSpace(name); name == "all" {
			out.all = true
			continue
		}
		e, err := eval.Find(name)
		if err != nil {
			return out, misused("--metrics: %v, all", err)
		}
		if e.Measure == nil {
			return out, misused("--metrics: %s is measured by winnow %s", e.Name, e.Command)
		}
		out.list = append(out.list, chosenMetric{Entry: e})
	}
	named := out.list
	out.list = nil
	for _, e := range eval.Catalog {
		if e.Measure != nil && (out.all || slices.ContainsFunc(named, func(n chosenMetric) bool { return n.Name == e.Name })) {
			out.list = append(out.list, chosenMetric{Entry: e})
		}
	}
	given, err := out.given(c)
	if err != nil {
		return out, err
	}
	for i, e := range out.list {
		if out.list[i].values, err = e.Resolve(given[e.Name]); err != nil {
			return out, misused("--set: %v", err)
		}
	}
	return out, nil
}

// retrievalMetric is the one the verdict is about.
const retrievalMetric = "retrieval"

// given are the settings that --set, --k and --count-lonely give, by metric.
func (m chosenMetrics) given(c *cli.Context) (map[string]map[string]string, error) {
	if n := c.Int("queries"); n < 0 {
		return nil, misused("--queries: found %d, expected a number of images, or 0 for all", n)
	}
	given := map[string]map[string]string{}
	for _, e := range m.list {
		given[e.Name] = map[string]string{}
		for _, s := range e.Settings {
			switch s.Name {
			case "k":
				given[e.Name][s.Name] = c.String("k")
			case "queries":
				given[e.Name][s.Name] = strconv.Itoa(c.Int("queries"))
			case "count_lonely", "count_unseen":
				given[e.Name][s.Name] = fmt.Sprint(c.Bool("count-lonely"))
			}
		}
	}
	for _, text := range c.StringSlice("set") {
		key, value, ok := strings.Cut(text, "=")
		metric, name, dotted := strings.Cut(key, ".")
		if !ok || !dotted {
			return nil, misused("--set: found %q, expected METRIC.SETTING=VALUE", text)
		}
		e, err := eval.Find(metric)
		if err != nil {
			return nil, misused("--set: %v", err)
		}
		if given[e.Name] == nil {
			return nil, misused("--set: %s is not among the --metrics", e.Name)
		}
		if what, flag := map[string]string{"k": "K", "queries": "number of queries"}[name]; flag && c.IsSet(name) {
			return nil, misused("--%s and --set %s both give the %s: expected one", name, text, what)
		}
		given[e.Name][name] = value
	}
	return given, nil
}

// fits reports whether a metric needs a split to fit on.
func (m chosenMetrics) fits() bool {
	for _, e := range m.list {
		if e.Train {
			return true
		}
	}
	return false
}

// measure fills in the result.
func (m chosenMetrics) measure(c *cli.Context, h *head.Head, data evalData, result *evalResult) error {
	result.Metrics, result.Skipped = map[string]measured{}, map[string]string{}
	err := comparison.Each(h, data.train, data.was, data.now, func(row string, of comparison.Asked) error {
		in := eval.Input{Test: of.Query, Gallery: of.Gallery, Train: of.Fit, Seed: c.Uint64("seed"), MaxMem: m.mem}
		for _, e := range m.list {
			if e.Costly {
				note(c, "measuring %s of the %s embeddings", e.Name, row)
			}
			got, err := e.Measure(c.Context, in, e.values)
			if errors.Is(err, eval.ErrNoSharedClass) {
				if m.all {
					result.Skipped[e.Name] = fmt.Sprintf("no image of %s has a class of %s", result.Split, data.fitted)
					continue
				}
				return withHint(fmt.Errorf("%w: splits %s and %s", err, data.fitted, result.Split), "fit on a split with the classes that are asked about: --fit SPLIT; or leave %s out of --metrics", e.Name)
			}
			if err != nil {
				return err
			}
			result.note(e, row, got, in.Seed, data.fitted)
		}
		return nil
	})
	if err != nil || result.Retrieval == nil {
		return err
	}
	if result.N == 0 {
		return fmt.Errorf("eval: no image of the split %s has another of its class to find", result.Split)
	}
	all := comparison.Comparison{FineTuned: result.FineTuned, Frozen: *result.Frozen, Whitened: *result.Whitened, Trained: *result.Retrieval}
	result.Verdict = all.Verdict()
	return nil
}

// note puts one result into its place.
func (r *evalResult) note(e chosenMetric, row string, got eval.Result, seed uint64, fitted string) {
	if found, ok := got.(eval.Retrieval); ok {
		*map[string]**eval.Retrieval{comparison.FrozenRow: &r.Frozen, comparison.WhitenedRow: &r.Whitened, comparison.TrainedRow: &r.Retrieval}[row] = &found
		return
	}
	all := r.Metrics[e.Name]
	all.Settings = e.values
	if e.Draws {
		all.Seed = &seed
	}
	if e.Train {
		all.FittedOn = fitted
	}
	*map[string]*eval.Result{comparison.FrozenRow: &all.Frozen, comparison.WhitenedRow: &all.Whitened, comparison.TrainedRow: &all.Trained}[row] = got
	r.Metrics[e.Name] = all
}
