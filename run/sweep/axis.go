package sweep

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/catalog"
	"winnow/run/config"
	"winnow/run/settings"
)

// Axis is a setting that differs between trainings: its values are listed, or drawn from a range.
type Axis struct {
	Key    string   `json:"key"` // a flag of winnow train without dashes, or a setting
	Values []string `json:"values,omitempty"`
	Range  *Range   `json:"range,omitempty"`
}

// Range is a range to draw numbers from, uniformly or log-uniformly.
type Range struct {
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Log   bool    `json:"log,omitempty"`
	Whole bool    `json:"whole,omitempty"` // integers only
}

// fixed are flags and settings that cannot differ, and why.
var fixed = map[string]string{
	"seed":          "a sweep has a list of seeds",
	"set":           "name the setting itself, as solver.lr=1e-4,1e-3",
	"manifest":      "trainings on other images or labels cannot be compared",
	"data.manifest": "trainings on other images or labels cannot be compared",
	"root":          "trainings on other images cannot be compared",
	"data.root":     "trainings on other images cannot be compared",
}

// ParseAxis reads KEY=V1,V2,…, with ; between values that have commas, or KEY=LOW..HIGH and KEY=LOW..HIGH:log.
func ParseAxis(text string) (a Axis, err error) {
	key, list, ok := strings.Cut(text, "=")
	a.Key = strings.TrimSpace(key)
	if !ok || a.Key == "" {
		return a, fmt.Errorf("found %q, expected KEY=VALUE,VALUE,… or KEY=LOW..HIGH, for example lr=1e-4,1e-3", text)
	}
	if why := fixed[a.Key]; why != "" {
		return a, fmt.Errorf("%s cannot differ within a sweep: %s", a.Key, why)
	}
	if strings.Contains(list, "..") {
		a.Range, err = parseRange(list)
		if err != nil {
			return a, fmt.Errorf("%s: %w", a.Key, err)
		}
		return a, nil
	}
	parting := ","
	if strings.Contains(list, ";") {
		parting = ";"
	}
	for value := range strings.SplitSeq(list, parting) {
		value = formatCanonical(strings.TrimSpace(value))
		if value == "" {
			return a, fmt.Errorf("%s: found an empty value in %q, expected values with commas between them", a.Key,
				list)
		}
		if slices.Contains(a.Values, value) {
			return a, fmt.Errorf("%s: found %s twice", a.Key, value)
		}
		a.Values = append(a.Values, value)
	}
	return a, nil
}

func parseRange(text string) (*Range, error) {
	r := new(Range)
	var err1, err2 error
	ends, how, marked := strings.Cut(text, ":")
	low, high, _ := strings.Cut(ends, "..")
	r.Low, err1 = strconv.ParseFloat(strings.TrimSpace(low), 64)
	r.High, err2 = strconv.ParseFloat(strings.TrimSpace(high), 64)
	switch r.Log = how == "log"; {
	case err1 != nil || err2 != nil || marked && !r.Log || math.IsInf(r.Low, 0) || math.IsInf(r.High, 0):
		return nil, fmt.Errorf("found %q, expected LOW..HIGH or LOW..HIGH:log, for example 1e-5..1e-2:log", text)
	case !(r.Low < r.High):
		return nil, fmt.Errorf("the range %s is empty: expected the lower end first", text)
	case r.Log && r.Low <= 0:
		return nil, fmt.Errorf("found %s, expected a lower end above 0 for :log", text)
	}
	return r, nil
}

// formatCanonical writes equal numbers in the same way, so that 1e-3 and 0.001 are one training.
func formatCanonical(value string) string {
	if v, err := strconv.ParseFloat(value, 64); err == nil && v-v == 0 {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return value
}

// checkAxis refuses a key that is neither a flag nor a setting, and finds out whether it takes integers only.
func (a *Axis) checkAxis(base config.Run) error {
	i := slices.IndexFunc(settings.Flags, func(f settings.Flag) bool { return f.Name == a.Key })
	whole := i >= 0 && settings.Flags[i].Kind == settings.Whole
	if i < 0 {
		isWhole, err := base.IsWhole(a.Key)
		if err != nil && !strings.HasPrefix(a.Key, "losses.") { // losses may differ too
			known := slices.AppendSeq(settings.Names(), maps.Keys(config.Flatten(base)))
			slices.Sort(known)
			return fmt.Errorf("%s is not a setting%s: expected a flag of winnow train, as lr, loss, filter, "+
				"noise-rate, epochs or batch, or a key of its configuration, as solver.weight_decay", a.Key,
				catalog.Ask(a.Key, known))
		}
		whole = isWhole
	}
	if a.Range != nil {
		a.Range.Whole = whole
	}
	return nil
}

// drawValue returns a value.
func (a Axis) drawValue(rng *rand.Rand) string {
	r := a.Range
	if r == nil {
		return a.Values[rng.IntN(len(a.Values))]
	}
	u := rng.Float64()
	v := r.Low + u*(r.High-r.Low)
	if r.Log {
		v = math.Exp(math.Log(r.Low) + u*(math.Log(r.High)-math.Log(r.Low)))
	}
	if r.Whole {
		v = math.Round(v)
	} else if short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64); err == nil {
		v = short // for names and commands
	}
	return formatCanonical(strconv.FormatFloat(min(max(v, r.Low), r.High), 'g', -1, 64))
}

// IsNumeric reports whether all values are numbers.
func (a Axis) IsNumeric() bool {
	isText := func(v string) bool { _, err := strconv.ParseFloat(v, 64); return err != nil }
	return a.Range != nil || len(a.Values) > 1 && !slices.ContainsFunc(a.Values, isText)
}
