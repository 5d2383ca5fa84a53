package suspects

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// column is one value a row or, as a list, several; values are text, empty where there is none.
type column struct {
	name   string
	others []string // names that other tools give it
	needed bool
	list   bool
	number bool // or several: nothing that a stranger wrote
	put    func(e *Suspect, put func(string))
	set    func(r *rows, e *Suspect, values []string) error // of one value where it is no list
}

// columns in the order of CSV, where true_label stands if any is known. What belongs to a list's paths stands behind it.
var columns = []column{
	one("rank", func(e *Suspect) string { return strconv.Itoa(e.Rank) }, func(_ *rows, e *Suspect, s string) (err error) {
		if e.Rank, err = strconv.Atoi(s); s != "" && (err != nil || e.Rank < 1) {
			return fmt.Errorf("found %.40q, expected a whole number from 1", s)
		}
		return nil
	}),
	required("path", func(e *Suspect) *string { return &e.Path }),
	required("given_label", func(e *Suspect) *string { return &e.Given }, "label"),
	required("suggested_label", func(e *Suspect) *string { return &e.Suggested }, "predicted_label"),
	scores,
	maybe("suggested_score", func(e *Suspect) **float64 { return &e.SuggestedScore }),
	maybe("suggested_probability", func(e *Suspect) **float64 { return &e.SuggestedProbability }),
	called,
	one(trueLabel, func(e *Suspect) string { return e.True }, func(r *rows, e *Suspect, s string) error {
		e.True = r.same(s)
		return nil
	}),
	nearPaths("nearest_with_given_label", func(e *Suspect) *[]Near { return &e.SupportGiven }),
	nearPaths("nearest_with_suggested_label", func(e *Suspect) *[]Near { return &e.SupportSuggested }),
	maybe("fit", func(e *Suspect) **float64 { return &e.Fit }),
	flag("outlier", func(e *Suspect) *bool { return &e.Outlier }),
	several(copies, func(e *Suspect) int { return len(e.Copies) },
		func(e *Suspect, i int) string { return e.Copies[i].Path },
		func(r *rows, e *Suspect, values []string) error {
			e.Copies = make([]Copy, len(values))
			for i, s := range values {
				e.Copies[i].Path = r.same(s)
			}
			return nil
		}),
	nearSimilarities("nearest_with_given_label_similarity", func(e *Suspect) []Near { return e.SupportGiven }),
	nearSimilarities("nearest_with_suggested_label_similarity", func(e *Suspect) []Near { return e.SupportSuggested }),
	several(copies+"_label", func(e *Suspect) int { return len(e.Copies) },
		func(e *Suspect, i int) string { return e.Copies[i].Label },
		func(r *rows, e *Suspect, values []string) error {
			return each(values, len(e.Copies), func(i int, s string) error { e.Copies[i].Label = r.same(s); return nil })
		}),
	numeric(several(copies+"_similarity", func(e *Suspect) int { return len(e.Copies) },
		func(e *Suspect, i int) string { return digits(e.Copies[i].Similarity) },
		func(_ *rows, e *Suspect, values []string) error {
			return each(values, len(e.Copies), func(i int, s string) (err error) { e.Copies[i].Similarity, err = number(s); return err })
		})),
	maybe("given_probability", func(e *Suspect) **float64 { return &e.GivenProbability }),
	flag("unjudged", func(e *Suspect) *bool { return &e.Unjudged }),
}

const (
	trueLabel = "true_label"
	copies    = "copies_with_other_labels"
)

var scores = column{name: "score", others: []string{"label_quality", "label_score"}, needed: true, number: true,
	put: func(e *Suspect, put func(string)) { put(digits(e.Score)) },
	set: func(_ *rows, e *Suspect, values []string) (err error) { e.Score, err = number(values[0]); return err },
}

var called = func() column {
	c := flag("dropped", func(e *Suspect) *bool { return &e.Dropped }, "is_label_issue")
	set := c.set
	c.set = func(r *rows, e *Suspect, values []string) error {
		r.calls = r.calls || values[0] != ""
		return set(r, e, values)
	}
	return c
}()

// cleanlab are the columns for what reads cleanlab's, most of which go by its names.
var cleanlab = func() (list []column) {
	for _, name := range []string{"path", "is_label_issue", "label_score", "given_label", "suggested_label"} {
		i := slices.IndexFunc(columns, func(c column) bool { return c.name == name || slices.Contains(c.others, name) })
		c := columns[i]
		c.name = name
		list = append(list, c)
	}
	return list
}()

// one returns a column of one value a row.
func one(name string, get func(e *Suspect) string, set func(r *rows, e *Suspect, s string) error) column {
	return column{name: name,
		put: func(e *Suspect, put func(string)) { put(get(e)) },
		set: func(r *rows, e *Suspect, values []string) error { return set(r, e, values[0]) },
	}
}

// required returns a column that must be there and not be empty.
func required(name string, at func(e *Suspect) *string, others ...string) column {
	c := one(name, func(e *Suspect) string { return *at(e) }, func(r *rows, e *Suspect, s string) error {
		if s == "" {
			return fmt.Errorf("is empty")
		}
		*at(e) = r.same(s)
		return nil
	})
	c.needed, c.others = true, others
	return c
}

// maybe returns a number that need not be there: empty, or NaN as tables of other tools write it.
func maybe(name string, at func(e *Suspect) **float64) column {
	get := func(e *Suspect) string {
		if v := *at(e); v != nil {
			return digits(*v)
		}
		return ""
	}
	return numeric(one(name, get, func(_ *rows, e *Suspect, s string) error {
		if s == "" || strings.EqualFold(s, "nan") {
			return nil
		}
		v, err := number(s)
		*at(e) = &v
		return err
	}))
}

func flag(name string, at func(e *Suspect) *bool, others ...string) column {
	c := one(name, func(e *Suspect) string { return strconv.FormatBool(*at(e)) }, func(_ *rows, e *Suspect, s string) (err error) {
		if s == "" {
			return nil
		}
		if *at(e), err = strconv.ParseBool(s); err != nil {
			return fmt.Errorf("found %.40q, expected true or false", s)
		}
		return nil
	})
	c.others = others
	return c
}

// several returns a column that is a list.
func several(name string, n func(e *Suspect) int, get func(e *Suspect, i int) string, set func(r *rows, e *Suspect, values []string) error) column {
	return column{name: name, list: true, set: set, put: func(e *Suspect, put func(string)) {
		for i := range n(e) {
			put(get(e, i))
		}
	}}
}

func numeric(c column) column { c.number = true; return c }

func nearPaths(name string, of func(e *Suspect) *[]Near) column {
	return several(name, func(e *Suspect) int { return len(*of(e)) }, func(e *Suspect, i int) string { return (*of(e))[i].Path },
		func(r *rows, e *Suspect, values []string) error {
			near := make([]Near, len(values))
			for i, s := range values {
				near[i].Path = r.same(s)
			}
			*of(e) = near
			return nil
		})
}

func nearSimilarities(name string, of func(e *Suspect) []Near) column {
	return numeric(several(name, func(e *Suspect) int { return len(of(e)) }, func(e *Suspect, i int) string { return digits(of(e)[i].Similarity) },
		func(_ *rows, e *Suspect, values []string) error {
			near := of(e)
			return each(values, len(near), func(i int, s string) (err error) { near[i].Similarity, err = number(s); return err })
		}))
}

// each sets what belongs to the n paths of a list, if it is told.
func each(values []string, n int, set func(i int, s string) error) error {
	if len(values) != n && len(values) > 0 {
		return fmt.Errorf("found %d values, expected one for each of %d paths", len(values), n)
	}
	for i, s := range values {
		if err := set(i, s); err != nil {
			return err
		}
	}
	return nil
}

func number(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("found %.40q, expected a finite number", s)
	}
	return v, nil
}

// digits returns a number for people: six digits tell scores apart as far as they mean anything.
func digits(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// place finds the columns among the names of a file's, -1 where one is missing. A column's own name goes before those
// that other tools give it.
func place(names []string) ([]int, error) {
	at := make([]int, len(columns))
	for i, c := range columns {
		at[i] = -1
		for _, name := range append([]string{c.name}, c.others...) {
			k := slices.Index(names, name)
			if k >= 0 && slices.Contains(names[k+1:], name) {
				return nil, fmt.Errorf("column %q stands twice", name)
			}
			if k >= 0 {
				at[i] = k
				break
			}
		}
		if at[i] < 0 && c.needed {
			return nil, fmt.Errorf("found the columns %.200s, expected %s among them", strings.Join(names, ","), c.known())
		}
	}
	return at, nil
}

// known returns a column's names for a message.
func (c column) known() string {
	if len(c.others) == 0 {
		return c.name
	}
	return c.name + " (or " + strings.Join(c.others, ", ") + ")"
}
