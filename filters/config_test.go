package filters_test

import (
	"reflect"
	"strings"
	"testing"

	"winnow/features"
	"winnow/filters"
)

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct {
		change func(*filters.Config)
		want   string
	}{
		{func(c *filters.Config) { c.Scorer = "vmff" },
			`filters: scorer "vmff" is unknown (did you mean "vmf"?): known are vmf, avgsim, proxysim, batch_positive, memory_positive`},
		{func(c *filters.Config) { c.Threshold = "top" },
			`filters: threshold "top" is unknown: known are median, trm, paper, fixed`},
		{func(c *filters.Config) { c.Kappa = "" }, `filters: kappa "" is unknown: known are banerjee, sra`},
		{func(c *filters.Config) { c.Denominator = "some" },
			`filters: denominator "some" is unknown: known are members, all`},
		{func(c *filters.Config) { c.Rate = 1 }, `filters: rate: found 1, expected a share from 0 to below 1`},
		{func(c *filters.Config) { c.Rate = -0.1 }, `filters: rate: found -0.1, expected a share from 0 to below 1`},
		{func(c *filters.Config) { c.Fixed = 1 },
			`filters: fixed: found 1, expected a probability or a cosine from 0 to below 1`},
		{func(c *filters.Config) { c.Window = 0 }, `filters: window: found 0, expected 1 or more batches`},
		{func(c *filters.Config) { c.WarmUp = -1 }, `filters: warm_up: found -1, expected 0 or more iterations`},
		{func(c *filters.Config) { c.AvgSimSteps = -1 },
			`filters: avgsim_steps: found -1, expected 0 or more iterations`},
		{func(c *filters.Config) { c.Scorer, c.Threshold = "avgsim", "fixed" },
			`filters: threshold "fixed" with scorer "avgsim": the scores have no fixed scale, ` +
				`expected median, trm or paper`},
		{func(c *filters.Config) { c.Scorer, c.Threshold = "batch_positive", "fixed" },
			`filters: threshold "fixed" with scorer "batch_positive": the scores have no fixed scale, ` +
				`expected median, trm or paper`},
		{func(c *filters.Config) { c.Scorer = "proxysim" },
			`filters: scorer "proxysim" needs a loss with proxies, but this loss has none`},
	} {
		config := filters.Default()
		c.change(&config)
		if _, err := filters.New(config, filters.Env{Dim: 8, Classes: 3}); err == nil || err.Error() != c.want {
			t.Errorf("error is %v, expected %s", err, c.want)
		}
	}
	if err := filters.Default().Validate(); err != nil {
		t.Error(err)
	}
	config := filters.Default()
	config.Scorer = "proxysim"
	if _, err := filters.New(config, filters.Env{Dim: 8, Classes: 3, Proxies: features.NewParam("p", 7, 8),
		PerClass: 2}); err == nil ||
		!strings.Contains(err.Error(), "7×8 proxies, expected 3 classes of 2 and dimension 8") {
		t.Errorf("error is %v", err)
	}
	if _, err := filters.New(filters.Default(), filters.Env{Dim: 1, Classes: 3}); err == nil {
		t.Error("no error for vMF-Sim in one dimension")
	}
}

// The settings of the catalog agree with the configuration's keys and defaults.
func TestCatalogIsConsistent(t *testing.T) {
	defaults := map[string]reflect.Value{}
	config := reflect.ValueOf(filters.Default())
	for i := range config.NumField() {
		tag := config.Type().Field(i).Tag.Get("yaml")
		if tag == "" {
			t.Errorf("field %s has no key", config.Type().Field(i).Name)
		}
		defaults[tag] = config.Field(i)
	}
	seen := map[string]bool{}
	for _, e := range filters.Catalog {
		if e.Name == "" || e.Title == "" || e.Paper == "" || e.Equation == "" || seen[e.Name] {
			t.Errorf("entry %+v is incomplete or repeated", e)
		}
		seen[e.Name] = true
		for _, s := range e.Settings {
			value, ok := defaults[s.Name]
			if !ok {
				t.Errorf("%s: setting %q is not a key of the configuration", e.Name, s.Name)
			} else if value.Interface() != s.Default || s.Doc == "" {
				t.Errorf("%s: setting %q: default %v, in the configuration %v", e.Name, s.Name, s.Default, value)
			}
			if _, err := s.Check(s.Default); err != nil {
				t.Errorf("%s: the default of setting %q: %v", e.Name, s.Name, err)
			}
		}
	}
}
