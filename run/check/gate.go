package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/catalog"
	"winnow/internal/text"
)

// Checks lists the checks with their descriptions, in the order of the findings.
var Checks = []struct{ Name, Does string }{
	{unreadable, "a file that is no readable image"},
	{listed, "a row that lists an image again"},
	{duplicate, "one image under two labels, perhaps scaled, mirrored or saved again"},
	{leak, "one image in two splits"},
	{outlier, "an image that fits no class"},
	{labelError, "a label that is probably wrong"},
	{wrong, "more labels still wrong than allowed, by checks of random images"},
}

// Usual is the default of --fail-on: the findings that do not depend on an estimate.
const Usual = "unreadable,listed-twice,duplicate,leak"

// Names returns the names of the checks.
func Names() []string {
	names := make([]string, len(Checks))
	for i, c := range Checks {
		names[i] = c.Name
	}
	return names
}

// A Gate decides which findings fail: those of the checks in it. The value is the least probability of a label error
// that fails, or the largest share of labels that may be wrong.
type Gate map[string]float64

// ParseGate parses a list such as leak,label-error=0.99,wrong=2%. For "none" or "" it returns an empty gate.
func ParseGate(list string) (Gate, error) {
	gate := Gate{}
	if list == "none" {
		return gate, nil
	}
	for _, item := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		name, value, limited := strings.Cut(item, "=")
		number, percent := strings.CutSuffix(value, "%")
		limit, err := strconv.ParseFloat(number, 64)
		if percent {
			limit /= 100
		}
		switch takes := name == labelError || name == wrong; {
		case !slices.Contains(Names(), name):
			return nil, fmt.Errorf("%q is no check%s, expected none or some of %s", name, catalog.Ask(name, Names()),
				strings.Join(Names(), ", "))
		case limited && !takes:
			return nil, fmt.Errorf("%s: found the limit %q, expected none: only %s and %s have limits", name, value,
				labelError, wrong)
		case !limited && name == wrong:
			return nil, fmt.Errorf("%s needs the largest share that may be wrong, such as %[1]s=2%%", wrong)
		case limited && (err != nil || !(limit >= 0 && limit <= 1)):
			return nil, fmt.Errorf("%s: found %q, expected a number from 0 to 1, or a percentage", name, value)
		}
		gate[name] = limit
	}
	return gate, nil
}

// CountFailed counts the listed findings that fail, and returns an error if there are any.
func (r *Result) CountFailed() error {
	var checks []string
	r.Failed = 0
	for _, f := range r.Findings {
		if f.Fails {
			r.Failed++
			checks = append(checks, f.Check)
		}
	}
	if r.Failed == 0 {
		return nil
	}
	return fmt.Errorf("check: found %s of %s, expected none", text.Plural(r.Failed, "new finding"),
		strings.Join(slices.Compact(checks), ", "))
}
