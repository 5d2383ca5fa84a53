package catalog_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/internal/catalog"
)

type entry struct {
	name    string
	aliases []string
}

func names(e entry) []string { return append([]string{e.name}, e.aliases...) }

func TestFind(t *testing.T) {
	list := []entry{{"n_pair", []string{"npairs"}}, {"proxy_anchor", nil}, {"k-1", nil}, {"k_1", nil}}
	for name, want := range map[string]string{
		"n_pair": "n_pair", "npairs": "n_pair", "N-Pairs": "n_pair", "Proxy-Anchor": "proxy_anchor",
		"ProxyAnchor": "proxy_anchor",
		"k_1":         "k_1", "K1": "k-1",
	} {
		if got, err := catalog.Find("test: loss", name, list, names); err != nil || got.name != want {
			t.Errorf("%s: found %q, %v, expected %s", name, got.name, err, want)
		}
	}
	for name, want := range map[string]string{
		"proxyancor": `test: loss "proxyancor" is unknown (did you mean "proxy_anchor"?): known are n_pair, proxy_anchor, k-1, k_1`,
		"":           `test: loss "" is unknown: known are n_pair, proxy_anchor, k-1, k_1`,
		"--":         `test: loss "--" is unknown: known are n_pair, proxy_anchor, k-1, k_1`,
	} {
		if got, err := catalog.Find("test: loss", name, list, names); err == nil || err.Error() != want ||
			got.name != "" {
			t.Errorf("%q: found %q, %v", name, got.name, err)
		}
	}
}

// Names in a configuration must match exactly.
func TestCheck(t *testing.T) {
	if err := catalog.Check("test: solver", "adam", "sgd", "adam"); err != nil {
		t.Error(err)
	}
	if err := catalog.Check("test: solver", "Adam", "sgd", "adam"); err == nil ||
		err.Error() != `test: solver "Adam" is unknown (did you mean "adam"?): known are sgd, adam` {
		t.Errorf("found %v", err)
	}
}

var settings = []catalog.Setting{
	{Name: "margin", Symbol: "λ", Default: 0.5, Min: -1, Max: 1},
	{Name: "bins", Default: 10, Min: 1, Max: 100},
	{Name: "smooth", Default: false},
	{Name: "form", Default: "spec", Choices: []string{"spec", "code"}},
	{Name: "k", Default: []int{1, 2}},
	{Name: "free", Default: 0.0},
}

func TestResolve(t *testing.T) {
	want := catalog.Values{"margin": -1.0, "bins": 3, "smooth": true, "form": "code", "k": []int{5, 1}, "free": 0.0}
	got, err := catalog.Resolve("test", settings,
		map[string]any{"margin": -1, "bins": float32(3), "smooth": true, "form": "code", "k": []int{5, 1}})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	got, err = catalog.ResolveTexts("test", settings,
		map[string]string{"margin": "-1", "bins": "3", "smooth": "true", "form": "code", "k": "5, 1"})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if got.Number("margin") != -1 || got.Count("bins") != 3 || !got.Flag("smooth") || got.Word("form") != "code" ||
		len(got.Counts("k")) != 2 {
		t.Errorf("found %v", got)
	}
	if _, err := catalog.Resolve("test", nil, map[string]any{"b": 1, "a": 2}); err == nil ||
		err.Error() != `test: setting "a" is unknown: known are none` {
		t.Errorf("found %v", err)
	}
}

func TestResolveSaysWhatIsWrong(t *testing.T) {
	for want, given := range map[string]map[string]any{
		`margin: found 2, expected a number from -1 to 1`:                  {"margin": 2},
		`margin: found wide (string), expected a number from -1 to 1`:      {"margin": "wide"},
		`free: found NaN, expected a finite number`:                        {"free": math.NaN()},
		`bins: found 2.5, expected a whole number from 1 to 100`:           {"bins": 2.5},
		`smooth: found 1 (int), expected true or false`:                    {"smooth": 1},
		`form: found "Spec", expected spec | code`:                         {"form": "Spec"},
		`form: found 3 (int), expected spec | code`:                        {"form": 3},
		`k: found [0], expected whole numbers from 1, separated by commas`: {"k": []int{0}},
		`setting "margn" is unknown (did you mean "margin"?): known are margin (λ), bins, smooth, for`: {"zzz": 1,
			"margn": 2},
	} {
		if _, err := catalog.Resolve("test", settings, given); err == nil ||
			!strings.HasPrefix(err.Error(), "test: "+want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
	for want, texts := range map[string]map[string]string{
		`k: found "0", expected whole numbers from 1, separated by commas`: {"k": "0"},
		`k: found "1,x", expected whole numbers from 1`:                    {"k": "1,x"},
		`bins: found "many", expected a whole number from 1 to 100`:        {"bins": "many"},
		`margin: found "NaN", expected a number from -1 to 1`:              {"margin": "NaN"},
		`smooth: found "maybe", expected true or false`:                    {"smooth": "maybe"},
		`form: found "x", expected spec | code`:                            {"form": "x"},
		`setting "bin" is unknown (did you mean "bins"?)`:                  {"bin": "1"},
	} {
		if _, err := catalog.ResolveTexts("test", settings, texts); err == nil ||
			!strings.HasPrefix(err.Error(), "test: "+want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}

func TestChecker(t *testing.T) {
	check := catalog.Checker{Where: "test"}
	check.That(true, "rate", 0.5, "a share")
	if check.Err != nil {
		t.Error(check.Err)
	}
	check.That(false, "rate", 1.5, "a share")
	check.That(false, "window", 0, "1 or more")
	if check.Err == nil || check.Err.Error() != "test: rate: found 1.5, expected a share" {
		t.Errorf("found %v", check.Err)
	}
}
