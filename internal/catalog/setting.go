package catalog

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Setting is an option of an entry. Its type is the type of Default: float64, int, bool, string or []int, a list of
// whole numbers from 1.
type Setting struct {
	Name    string
	Symbol  string // symbol in the formula, or ""
	Doc     string
	Default any
	Min     float64 // smallest and largest number allowed; if both are 0, any finite number
	Max     float64
	Choices []string // the allowed words; empty: any word
	Each    []string // description of each choice, if Doc does not describe them
}

// Values holds all settings of one entry by name, checked and complete. The accessors panic for an unknown name or
// another type, which is a bug in winnow.
type Values map[string]any

func (v Values) Number(name string) float64 { return v[name].(float64) }
func (v Values) Count(name string) int      { return v[name].(int) }
func (v Values) Flag(name string) bool      { return v[name].(bool) }
func (v Values) Word(name string) string    { return v[name].(string) }
func (v Values) Counts(name string) []int   { return v[name].([]int) }

// Resolve checks the given settings against the list and adds the defaults. Errors start with where.
func Resolve(where string, list []Setting, given map[string]any) (Values, error) {
	out := make(Values, len(list))
	names, known := make([]string, len(list)), make([]string, len(list))
	for i, s := range list {
		names[i], known[i], out[s.Name] = s.Name, s.Name, s.Default
		if s.Symbol != "" {
			known[i] += " (" + s.Symbol + ")"
		}
		if value, ok := given[s.Name]; ok {
			checked, err := s.Check(value)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", where, s.Name, err)
			}
			out[s.Name] = checked
		}
	}
	unknown := "" // the first unknown name in alphabetical order
	for name := range given {
		if _, ok := out[name]; !ok && (unknown == "" || name < unknown) {
			unknown = name
		}
	}
	if unknown == "" {
		return out, nil
	}
	if len(list) == 0 {
		known = []string{"none"}
	}
	return nil, fmt.Errorf("%s: setting %q is unknown%s: known are %s",
		where, unknown, Ask(unknown, names), strings.Join(known, ", "))
}

// ResolveTexts is [Resolve] for values written as text, as in flags.
func ResolveTexts(where string, list []Setting, texts map[string]string) (Values, error) {
	given := make(map[string]any, len(texts))
	for name, text := range texts {
		given[name] = text
	}
	for _, s := range list {
		if text, ok := texts[s.Name]; ok {
			value, ok := s.parseSettingText(text)
			if _, err := s.Check(value); !ok || err != nil {
				return nil, fmt.Errorf("%s: %s: found %q, expected %s", where, s.Name, text, s.Range())
			}
			given[s.Name] = value
		}
	}
	return Resolve(where, list, given)
}

// parseSettingText parses a text as the setting's type. It does not check the range.
func (s Setting) parseSettingText(text string) (value any, ok bool) {
	var err error
	switch s.Default.(type) {
	case string:
		value = text
	case bool:
		value, err = strconv.ParseBool(text)
	case []int:
		var list []int
		for part := range strings.SplitSeq(text, ",") {
			k, wrong := strconv.Atoi(strings.TrimSpace(part))
			if wrong != nil {
				return nil, false
			}
			list = append(list, k)
		}
		value = list
	default:
		value, err = strconv.ParseFloat(text, 64)
	}
	return value, err == nil
}

// Check converts a value from YAML, JSON or a program to the setting's type and checks the range.
func (s Setting) Check(value any) (any, error) {
	found := fmt.Sprintf("%v (%T)", value, value)
	switch s.Default.(type) {
	case bool:
		if b, ok := value.(bool); ok {
			return b, nil
		}
	case string:
		if word, ok := value.(string); ok {
			if len(s.Choices) == 0 || slices.Contains(s.Choices, word) {
				return word, nil
			}
			found = strconv.Quote(word)
		}
	case []int:
		if list, ok := value.([]int); ok {
			if len(list) > 0 && slices.Min(list) >= 1 {
				return list, nil
			}
			found = fmt.Sprint(list)
		}
	default:
		if x, ok := asFloat(value); ok {
			if number, ok := s.convertNumber(x); ok {
				return number, nil
			}
			found = fmt.Sprint(value)
		}
	}
	return nil, fmt.Errorf("found %s, expected %s", found, s.Range())
}

// convertNumber returns x as float64 or int, whichever is the setting's type. ok is false if x is out of range.
func (s Setting) convertNumber(x float64) (any, bool) {
	if math.IsNaN(x) || math.IsInf(x, 0) || s.hasBounds() && (x < s.Min || x > s.Max) {
		return nil, false
	}
	if _, whole := s.Default.(int); !whole {
		return x, true
	}
	return int(x), x == math.Trunc(x) && math.Abs(x) <= 1<<53
}

func (s Setting) hasBounds() bool { return s.Min != 0 || s.Max != 0 }

// Range describes the values that the setting accepts.
func (s Setting) Range() string {
	what, free := "a number", "a finite number"
	switch s.Default.(type) {
	case bool:
		return "true or false"
	case []int:
		return "whole numbers from 1, separated by commas"
	case string:
		if len(s.Choices) == 0 {
			return "a word"
		}
		return strings.Join(s.Choices, " | ")
	case int:
		what, free = "a whole number", "a whole number"
	}
	if s.hasBounds() {
		return fmt.Sprintf("%s from %g to %g", what, s.Min, s.Max)
	}
	return free
}

// asFloat converts the number types that decoders produce.
func asFloat(value any) (float64, bool) {
	switch v := reflect.ValueOf(value); {
	case v.CanFloat():
		return v.Float(), true
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	}
	return 0, false
}
