package eval

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"winnow/internal/catalog"
)

// Setting is one thing that a person may choose of a metric. The type of Default (float64, int, bool or []int, a
// list of whole numbers from 1) is the type of the setting.
type Setting struct {
	Name     string  `json:"name"`
	Default  any     `json:"default"`
	Min, Max float64 // of a number
	Doc      string  `json:"doc"`
}

// Values are the settings of one metric, complete and checked.
type Values map[string]any

// The accessors trust: a name or type that the entry does not list is our bug, and panics.
func (v Values) number(name string) float64 { return v[name].(float64) }
func (v Values) count(name string) int      { return v[name].(int) }
func (v Values) flag(name string) bool      { return v[name].(bool) }

// resolve checks what a person gave against the list and fills in the defaults.
func resolve(where string, list []Setting, given map[string]string) (Values, error) {
	out, names := Values{}, []string{}
	for _, s := range list {
		out[s.Name] = s.Default
		names = append(names, s.Name)
		if text, ok := given[s.Name]; ok {
			value, err := s.parse(text)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: found %q, expected %s", where, s.Name, text, s.Range())
			}
			out[s.Name] = value
		}
	}
	unknown := ""
	for name := range given {
		if _, ok := out[name]; !ok && (unknown == "" || name < unknown) {
			unknown = name
		}
	}
	if unknown != "" {
		return nil, fmt.Errorf("%s: setting %q is unknown%s: known are %s", where, unknown, catalog.Ask(unknown, names), strings.Join(names, ", "))
	}
	return out, nil
}

// parse reads a value of the setting's type; which error it is plays no part.
func (s Setting) parse(text string) (any, error) {
	switch s.Default.(type) {
	case bool:
		return strconv.ParseBool(text)
	case []int:
		return parseCounts(text)
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || x < s.Min || x > s.Max {
		return nil, strconv.ErrRange
	}
	if _, whole := s.Default.(int); !whole {
		return x, nil
	}
	return strconv.Atoi(text)
}

// parseCounts reads whole numbers from 1, with commas between.
func parseCounts(text string) (any, error) {
	var list []int
	for _, part := range strings.Split(text, ",") {
		k, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || k < 1 {
			return nil, strconv.ErrRange
		}
		list = append(list, k)
	}
	return list, nil
}

// Range says in words what the setting accepts.
func (s Setting) Range() string {
	switch s.Default.(type) {
	case bool:
		return "true or false"
	case []int:
		return "whole numbers from 1, with commas between"
	case int:
		return fmt.Sprintf("a whole number from %g to %g", s.Min, s.Max)
	}
	return fmt.Sprintf("a number from %g to %g", s.Min, s.Max)
}
