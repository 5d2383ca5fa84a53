package suspects

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/seal"
)

// column is one value of a row, or one value for each item of a list in the row. Values are text, empty if missing.
type column struct {
	name   string   // name of the column
	others []string // names used by other tools
	needed bool
	leads  bool // determines the number of items in its list

	n   func(e *Suspect) int           // number of items in the list; nil: one value
	get func(e *Suspect, k int) string // value of item k; k is 0 if there is no list
	set func(r *rows, e *Suspect, k int, v string) error
}

const (
	trueLabel = "true_label"
	checked   = "checked"
	rateKnown = "rate_known"
)

// columns has the columns of the CSV file, in its order. true_label, checked and rate_known are left out if no image
// has a value. If several columns describe a list of an image, such as its duplicates, the first sets its length.
var columns = []column{
	newValueColumn("rank", func(e *Suspect) string { return strconv.Itoa(e.Rank) },
		func(_ *rows, e *Suspect, s string) (err error) {
			if e.Rank, err = strconv.Atoi(s); s != "" && (err != nil || e.Rank < 1) {
				return fmt.Errorf("found %.40q, expected a whole number from 1", s)
			}
			return nil
		}),
	newRequiredColumn("path", func(e *Suspect) *string { return &e.Path }),
	newRequiredColumn("given_label", func(e *Suspect) *string { return &e.Given }, "label"),
	newRequiredColumn("suggested_label", func(e *Suspect) *string { return &e.Suggested }, "predicted_label"),
	newScoreColumn(),
	newOptionalColumn("suggested_score", func(e *Suspect) **float64 { return &e.SuggestedScore }),
	newOptionalColumn("suggested_probability", func(e *Suspect) **float64 { return &e.SuggestedProbability }),
	newFlaggedColumn(),
	newValueColumn(trueLabel, func(e *Suspect) string { return e.True }, func(r *rows, e *Suspect, s string) error {
		e.True = r.internText(s)
		return nil
	}),
	newTextsColumn(given, "", supportGiven, func(n *Near) *string { return &n.Path }),
	newTextsColumn(suggested, "", supportSuggested, func(n *Near) *string { return &n.Path }),
	newOptionalColumn("fit", func(e *Suspect) **float64 { return &e.Fit }),
	newFlagColumn("outlier", func(e *Suspect) *bool { return &e.Outlier }),
	newTextsColumn(copies, "", copiesOf, func(c *Copy) *string { return &c.Path }),
	newNumbersColumn(given, supportGiven, func(n *Near) *float64 { return &n.Similarity }),
	newNumbersColumn(suggested, supportSuggested, func(n *Near) *float64 { return &n.Similarity }),
	newTextsColumn(copies, "_label", copiesOf, func(c *Copy) *string { return &c.Label }),
	newNumbersColumn(copies, copiesOf, func(c *Copy) *float64 { return &c.Similarity }),
	newOptionalColumn("given_probability", func(e *Suspect) **float64 { return &e.GivenProbability }),
	newFlagColumn("unjudged", func(e *Suspect) *bool { return &e.Unjudged }),
	copyGroup(),
	newValueColumn("copy_verdict", func(e *Suspect) string { return string(e.CopyVerdict) },
		func(_ *rows, e *Suspect, s string) error {
			v := Verdict(s)
			if s != "" && v != Kept && v != Wrong && v != Look {
				return fmt.Errorf("found %.40q, expected %s, %s, %s or an empty value", s, Kept, Wrong, Look)
			}
			e.CopyVerdict = v
			return nil
		}),
	newTextsColumn(problems, "", problemsOf, func(p *Problem) *string { return &p.Kind }),
	newTextsColumn(problems, "_why", problemsOf, func(p *Problem) *string { return &p.Why }),
	newValueColumn(checked, func(e *Suspect) string { return string(e.Checked) },
		func(_ *rows, e *Suspect, s string) error {
			v := Verdict(s)
			if s != "" && v != Kept && v != Wrong {
				return fmt.Errorf("found %.40q, expected %s, %s or an empty value", s, Kept, Wrong)
			}
			e.Checked = v
			return nil
		}),
	newFlagColumn(rateKnown, func(e *Suspect) *bool { return &e.RateKnown }),
	newValueColumn(
		seal.RowColumn,
		func(e *Suspect) string { return e.Checksum },
		func(_ *rows, e *Suspect, s string) error {
			e.Checksum = s
			return nil
		},
	),
}

func copyGroup() column {
	return newValueColumn("copy_group", func(e *Suspect) string {
		if e.CopyGroup == 0 {
			return ""
		}
		return strconv.Itoa(e.CopyGroup)
	}, func(_ *rows, e *Suspect, s string) (err error) {
		if e.CopyGroup, err = strconv.Atoi(s); s != "" && (err != nil || e.CopyGroup < 0) {
			return fmt.Errorf("found %.40q, expected a whole number from 1, or an empty value", s)
		}
		return nil
	})
}

// Names of the lists in a row.
const (
	given     = "nearest_with_given_label"
	suggested = "nearest_with_suggested_label"
	copies    = "copies_with_other_labels"
	problems  = "problems"
)

func supportGiven(e *Suspect) *[]Near     { return &e.SupportGiven }
func supportSuggested(e *Suspect) *[]Near { return &e.SupportSuggested }
func copiesOf(e *Suspect) *[]Copy         { return &e.Copies }
func problemsOf(e *Suspect) *[]Problem    { return &e.Problems }

// cleanlab holds the columns of cleanlab's table of label issues, plus path.
var cleanlab = func() (list []column) {
	for _, name := range []string{"path", "is_label_issue", "label_score", "given_label", "suggested_label"} {
		i := slices.IndexFunc(columns, func(c column) bool { return c.name == name || slices.Contains(c.others, name) })
		c := columns[i]
		c.name = name
		list = append(list, c)
	}
	return list
}()

// newValueColumn returns a column with one value a row.
func newValueColumn(name string, get func(e *Suspect) string, set func(r *rows, e *Suspect, s string) error) column {
	return column{name: name,
		get: func(e *Suspect, _ int) string { return get(e) },
		set: func(r *rows, e *Suspect, _ int, v string) error { return set(r, e, v) },
	}
}

// newRequiredColumn returns a column that must exist and must not be empty in any row.
func newRequiredColumn(name string, at func(e *Suspect) *string, others ...string) column {
	c := newValueColumn(name, func(e *Suspect) string { return *at(e) }, func(r *rows, e *Suspect, s string) error {
		if s == "" {
			return fmt.Errorf("found an empty value, expected a text")
		}
		*at(e) = r.internText(s)
		return nil
	})
	c.needed, c.others = true, others
	return c
}

func newScoreColumn() column {
	c := newValueColumn("score", func(e *Suspect) string { return formatSixDigits(e.Score) },
		func(_ *rows, e *Suspect, s string) (err error) {
			e.Score, err = parseNumberCell(s)
			return err
		})
	c.needed, c.others = true, []string{"label_quality", "label_score"}
	return c
}

// newOptionalColumn returns a column of optional numbers. A missing number is empty, or NaN in tables of other tools.
func newOptionalColumn(name string, at func(e *Suspect) **float64) column {
	get := func(e *Suspect) string {
		if v := *at(e); v != nil {
			return formatSixDigits(*v)
		}
		return ""
	}
	return newValueColumn(name, get, func(_ *rows, e *Suspect, s string) error {
		if s == "" || strings.EqualFold(s, "nan") {
			return nil
		}
		v, err := parseNumberCell(s)
		*at(e) = &v
		return err
	})
}

func newFlagColumn(name string, at func(e *Suspect) *bool) column {
	return newValueColumn(name, func(e *Suspect) string { return strconv.FormatBool(*at(e)) },
		func(_ *rows, e *Suspect, s string) (err error) {
			if s == "" {
				return nil
			}
			if *at(e), err = strconv.ParseBool(s); err != nil {
				return fmt.Errorf("found %.40q, expected true or false", s)
			}
			return nil
		})
}

func newFlaggedColumn() column {
	c := newFlagColumn("dropped", func(e *Suspect) *bool { return &e.Flagged })
	set := c.set
	c.set = func(r *rows, e *Suspect, k int, v string) error {
		r.calls = r.calls || v != ""
		return set(r, e, k, v)
	}
	c.others = []string{"is_label_issue"}
	return c
}

// newTextsColumn returns a column of the paths or labels in a list; part is empty for the leading column.
func newTextsColumn[T any](list, part string, of func(e *Suspect) *[]T, text func(item *T) *string) column {
	return column{name: list + part, leads: part == "",
		n:   func(e *Suspect) int { return len(*of(e)) },
		get: func(e *Suspect, k int) string { return *text(&(*of(e))[k]) },
		set: func(r *rows, e *Suspect, k int, v string) error {
			*text(growTo(of(e), k)) = r.internText(v)
			return nil
		},
	}
}

// newNumbersColumn returns the column of the similarities in a list.
func newNumbersColumn[T any](list string, of func(e *Suspect) *[]T, value func(item *T) *float64) column {
	return column{name: list + "_similarity",
		n:   func(e *Suspect) int { return len(*of(e)) },
		get: func(e *Suspect, k int) string { return formatSixDigits(*value(&(*of(e))[k])) },
		set: func(_ *rows, e *Suspect, k int, v string) (err error) {
			*value(growTo(of(e), k)), err = parseNumberCell(v)
			return err
		},
	}
}

// growTo returns item k of a list, after growing the list if it is shorter.
func growTo[T any](list *[]T, k int) *T {
	for len(*list) <= k {
		*list = append(*list, *new(T))
	}
	return &(*list)[k]
}

func parseNumberCell(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("found %.40q, expected a finite number", s)
	}
	return v, nil
}

// formatSixDigits formats a number with six digits, which is enough for a score.
func formatSixDigits(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// placeColumns returns the position of each column among the names in a file; -1 if the column is missing. A column's
// own name takes precedence over the names used by other tools.
func placeColumns(names []string) ([]int, error) {
	at := make([]int, len(columns))
	for i, c := range columns {
		at[i] = -1
		for _, name := range append([]string{c.name}, c.others...) {
			if at[i] = slices.Index(names, name); at[i] >= 0 {
				break
			}
		}
		if at[i] < 0 && c.needed {
			return nil, fmt.Errorf("columns %.200s: missing %s", strings.Join(names, ","),
				strings.Join(append([]string{c.name}, c.others...), " or "))
		}
	}
	return at, nil
}
