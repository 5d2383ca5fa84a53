package eval

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/eval"
	"winnow/run/evaluation"
)

func read(c *cli.Context) (o Options, err error) {
	retrieval, err := term.RetrievalOptions(c)
	if err != nil {
		return o, err
	}
	o.JSON = c.Bool("json")
	o.Eval = evaluation.Options{Split: c.String("split"), Fit: c.String("fit"), Seed: c.Uint64("seed"), MaxMem: retrieval.MaxMem}
	if o.Eval.Metrics, o.Eval.Skip, err = readMetrics(c); err != nil {
		return o, err
	}
	if o.Dir, err = term.RunArgument(c); err != nil {
		return o, err
	}
	o.Run, err = term.RunOptions(c, o.Eval.Splits()...)
	return o, err
}

// readMetrics reads --metrics and the settings of them; all of them are those that can be measured of the data.
func readMetrics(c *cli.Context) (list []evaluation.Metric, all bool, err error) {
	var named []string
	for _, name := range strings.Split(c.String("metrics"), ",") {
		if name = strings.TrimSpace(name); name == "all" {
			all = true
			continue
		}
		e, err := eval.Find(name)
		if err != nil {
			return nil, all, term.Misused("--metrics: %v, all", err)
		}
		if e.Measure == nil {
			return nil, all, term.Misused("--metrics: %s is measured by winnow %s", e.Name, e.Command)
		}
		named = append(named, e.Name)
	}
	for _, e := range eval.Catalog {
		if e.Measure != nil && (all || slices.Contains(named, e.Name)) {
			list = append(list, evaluation.Metric{Entry: e})
		}
	}
	given, err := readSettings(c, list)
	if err != nil {
		return nil, all, err
	}
	for i, m := range list {
		if list[i].Values, err = m.Resolve(given[m.Name]); err != nil {
			return nil, all, term.Misused("--set: %v", err)
		}
	}
	return list, all, nil
}

// readSettings reads the settings that --set, --k, --queries and --count-lonely give, by metric.
func readSettings(c *cli.Context, list []evaluation.Metric) (map[string]map[string]string, error) {
	if n := c.Int("queries"); n < 0 {
		return nil, term.Misused("--queries: found %d, expected a number of images, or 0 for all", n)
	}
	given := map[string]map[string]string{}
	for _, e := range list {
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
			return nil, term.Misused("--set: found %q, expected METRIC.SETTING=VALUE", text)
		}
		e, err := eval.Find(metric)
		if err != nil {
			return nil, term.Misused("--set: %v", err)
		}
		if given[e.Name] == nil {
			return nil, term.Misused("--set: %s is not among the --metrics", e.Name)
		}
		if what, flag := map[string]string{"k": "K", "queries": "number of queries"}[name]; flag && c.IsSet(name) {
			return nil, term.Misused("--%s and --set %s both give the %s: expected one", name, text, what)
		}
		given[e.Name][name] = value
	}
	return given, nil
}
