package losses

import (
	"fmt"
	"math"
	"strings"

	"winnow/internal/catalog"
)

// Setting is one number or word that a person may give to a loss. The type of Default (float64, int, bool
// or string) is the type of the setting.
type Setting struct {
	Name    string
	Symbol  string // in the formula, "" where it has none
	Doc     string
	Default any
	Min     float64 // smallest and largest number allowed; both 0: any finite number
	Max     float64
	Choices []string // the words allowed
	Each    []string // what each of them does, where Doc does not say it
}

// overTerms is the setting of how a loss becomes one number from its terms.
func overTerms(what string) Setting {
	return Setting{Name: "reduction", Symbol: "R", Default: "mean", Choices: []string{"mean", "avg_nonzero", "sum"},
		Doc: "mean over the " + what + ", mean over those that cost something, or their sum"}
}

// Values are the settings of one loss, complete and checked: float64, int, bool or string by name.
type Values map[string]any

// The four accessors trust: a name or type that the entry does not list is our bug, and panics.
func (v Values) number(name string) float64 { return v[name].(float64) }
func (v Values) count(name string) int      { return v[name].(int) }
func (v Values) flag(name string) bool      { return v[name].(bool) }
func (v Values) word(name string) string    { return v[name].(string) }

// resolve checks what a person gave against the list and fills in the defaults.
func resolve(where string, list []Setting, given map[string]any) (Values, error) {
	out := make(Values, len(list))
	for _, s := range list {
		out[s.Name] = s.Default
		value, ok := given[s.Name]
		if !ok {
			continue
		}
		checked, err := s.check(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", where, s.Name, err)
		}
		out[s.Name] = checked
	}
	if unknown := firstUnknown(out, given); unknown != "" {
		names := make([]string, len(list))
		for i, s := range list {
			names[i] = s.Name
		}
		return nil, fmt.Errorf("%s: setting %q is unknown%s: known are %s", where, unknown, catalog.Ask(unknown, names), known(list))
	}
	return out, nil
}

// firstUnknown makes the message independent of the order of the map.
func firstUnknown(out Values, given map[string]any) string {
	first := ""
	for name := range given {
		if _, ok := out[name]; !ok && (first == "" || name < first) {
			first = name
		}
	}
	return first
}

// known lists names with their symbols: "form, margin (λ), eps".
func known(list []Setting) string {
	if len(list) == 0 {
		return "none"
	}
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
		if s.Symbol != "" {
			names[i] += " (" + s.Symbol + ")"
		}
	}
	return strings.Join(names, ", ")
}

// check turns a value as YAML, JSON or a flag give it into the setting's own type, within its range.
func (s Setting) check(value any) (any, error) {
	switch s.Default.(type) {
	case bool:
		if b, ok := value.(bool); ok {
			return b, nil
		}
		return nil, fmt.Errorf("found %v (%T), expected true or false", value, value)
	case string:
		return s.checkWord(value)
	}
	x, ok := asFloat(value)
	if !ok {
		return nil, fmt.Errorf("found %v (%T), expected a number", value, value)
	}
	if math.IsNaN(x) || math.IsInf(x, 0) || ((s.Min != 0 || s.Max != 0) && (x < s.Min || x > s.Max)) {
		return nil, fmt.Errorf("found %v, expected %s", value, s.Range())
	}
	if _, whole := s.Default.(int); !whole {
		return x, nil
	}
	if x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		return nil, fmt.Errorf("found %v, expected %s", value, s.Range())
	}
	return int(x), nil
}

func (s Setting) checkWord(value any) (any, error) {
	word, ok := value.(string)
	if ok && len(s.Choices) == 0 {
		return word, nil
	}
	for _, choice := range s.Choices {
		if ok && word == choice {
			return word, nil
		}
	}
	if ok {
		return nil, fmt.Errorf("found %q, expected %s", word, s.Range())
	}
	return nil, fmt.Errorf("found %v (%T), expected %s", value, value, s.Range())
}

// Range says in words what the setting accepts.
func (s Setting) Range() string {
	switch s.Default.(type) {
	case bool:
		return "true or false"
	case string:
		if len(s.Choices) == 0 {
			return "a word"
		}
		return strings.Join(s.Choices, " | ")
	case int:
		if s.Min != 0 || s.Max != 0 {
			return fmt.Sprintf("an integer from %g to %g", s.Min, s.Max)
		}
		return "an integer"
	}
	if s.Min != 0 || s.Max != 0 {
		return fmt.Sprintf("a number from %g to %g", s.Min, s.Max)
	}
	return "a finite number"
}

// asFloat accepts the number types that decoders produce.
func asFloat(value any) (float64, bool) {
	switch x := value.(type) {
	case float64:
		return x, true
	case float32:
		return float64(x), true
	case int:
		return float64(x), true
	case int64:
		return float64(x), true
	case uint64:
		return float64(x), true
	}
	return 0, false
}
