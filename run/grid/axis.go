package grid

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"winnow/run/config"
)

// Axis is a setting that varies between trainings, over a list of values or a range.
type Axis struct {
	Key    string   `json:"key"` // a flag of winnow train without dashes, or the key of a setting
	Values []string `json:"values,omitempty"`
	Range  *Range   `json:"range,omitempty"`
}

// Range is a range from which numbers are drawn, uniformly or log-uniformly.
type Range struct {
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Log   bool    `json:"log,omitempty"`
	Whole bool    `json:"whole,omitempty"` // integers only
}

// fixed holds the flags and settings that cannot vary: seeds have their own flag, trainings on other images are not
// comparable, and a setting is varied by its key, not by set.
var fixed = []string{"seed", "set", "manifest", "data.manifest", "root", "data.root"}

// ParseAxis parses KEY=V1,V2,… (with ; between values that contain commas), KEY=LOW..HIGH or KEY=LOW..HIGH:log.
func ParseAxis(text string) (a Axis, err error) {
	key, list, ok := strings.Cut(text, "=")
	a.Key = strings.TrimSpace(key)
	if !ok || a.Key == "" {
		return a, fmt.Errorf("found %q, expected KEY=VALUE,VALUE,… or KEY=LOW..HIGH, for example lr=1e-4,1e-3", text)
	}
	if slices.Contains(fixed, a.Key) {
		return a, fmt.Errorf("%s cannot vary within a sweep", a.Key)
	}
	if strings.Contains(list, "..") {
		if a.Range, err = parseRange(list); err != nil {
			err = fmt.Errorf("%s: %w", a.Key, err)
		}
		return a, err
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
	r.Log = how == "log"
	if err1 != nil || err2 != nil || marked && !r.Log || r.High-r.Low > math.MaxFloat64 || !(r.Low < r.High) ||
		r.Log && r.Low <= 0 {
		return nil, fmt.Errorf("found %q, expected LOW..HIGH or LOW..HIGH:log, such as 1e-5..1e-2:log", text)
	}
	return r, nil
}

// formatCanonical formats equal numbers equally, so that 1e-3 and 0.001 are one training.
func formatCanonical(value string) string {
	if v, err := strconv.ParseFloat(value, 64); err == nil && v-v == 0 {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return value
}

// isWhole reports whether a flag or setting takes only integers.
func isWhole(key string) bool {
	if i := slices.IndexFunc(config.Flags, func(f config.Flag) bool { return f.Name == key }); i >= 0 {
		return config.Flags[i].Kind == config.Whole
	}
	base := config.Default()
	return config.Set(&base, key+"=1") == nil && config.Set(&base, key+"=1.5") != nil
}

// drawValue draws one of the values, or a number from the range.
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
		v = short // a rounded number for names and commands
	}
	return formatCanonical(strconv.FormatFloat(min(max(v, r.Low), r.High), 'g', -1, 64))
}

// IsNumeric reports whether all values are numbers.
func (a Axis) IsNumeric() bool {
	isText := func(v string) bool { _, err := strconv.ParseFloat(v, 64); return err != nil }
	return a.Range != nil || len(a.Values) > 1 && !slices.ContainsFunc(a.Values, isText)
}
