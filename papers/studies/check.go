package studies

import (
	"fmt"
	"slices"
	"strings"
)

// check returns an error if the study is inconsistent.
func (s *Study) check() error {
	switch {
	case s.Name == "" || s.Title == "" || s.Paper == "" || s.Source == "":
		return fmt.Errorf("name, title, paper and source are needed")
	case s.State != Last && s.State != Best:
		return fmt.Errorf("state is %q, expected last or best", s.State)
	case s.Unit != "percent" && s.Unit != "share":
		return fmt.Errorf("unit is %q, expected percent or share", s.Unit)
	case len(s.Measures) == 0 || len(s.Rows) == 0 || len(s.Columns) == 0 || s.Seeds < 1:
		return fmt.Errorf("found %d measures, %d rows, %d columns, %d seeds, expected some of each",
			len(s.Measures), len(s.Rows), len(s.Columns), s.Seeds)
	}
	for i, c := range s.Columns {
		if c.Name == "" || s.column(c.Name) != i {
			return fmt.Errorf("column %d is named %q, expected a name of its own", i+1, c.Name)
		}
		if !(c.Rate >= 0 && c.Rate < 1) {
			return fmt.Errorf("column %q: rate is %v, expected 0 to below 1", c.Name, c.Rate)
		}
	}
	if err := s.checkDrawn(); err != nil {
		return err
	}
	for i, r := range s.Rows {
		if err := s.checkRow(i, r); err != nil {
			return err
		}
	}
	for _, c := range s.Claims {
		if err := s.checkClaim(c); err != nil {
			return fmt.Errorf("claim %q: %w", c.Say, err)
		}
	}
	return s.checkChart()
}

func (s *Study) checkRow(i int, r Row) error {
	if r.Name == "" || s.row(r.Name) != i {
		return fmt.Errorf("row %d is named %q, expected a name of its own", i+1, r.Name)
	}
	if r.kinds() != 1 {
		return fmt.Errorf("row %q: expected one of recipe, ratio, judge, untrained, estimate, cost and estimator",
			r.Name)
	}
	if !slices.Contains([]string{"", Frozen, Whitened}, r.Untrained) {
		return fmt.Errorf("row %q: untrained is %q, expected %s or %s", r.Name, r.Untrained, Frozen, Whitened)
	}
	if r.Ratio != nil && (!s.trained(r.Ratio.Of) || !s.trained(r.Ratio.To)) {
		return fmt.Errorf("row %q: ratio of %q to %q, expected two rows that are run", r.Name, r.Ratio.Of, r.Ratio.To)
	}
	if r.Labels != "" && !slices.Contains(Labels, r.Labels) {
		return fmt.Errorf("row %q: labels are %q, expected %s", r.Name, r.Labels, strings.Join(Labels, ", "))
	}
	if r.Whole != "" && r.Recipe == "" {
		return fmt.Errorf("row %q: whole is %q, expected a recipe for stored features beside it", r.Name, r.Whole)
	}
	if r.Network != "" && (r.Ratio != nil || r.Judge != "") {
		return fmt.Errorf("row %q: network is %q, expected none: ratios and judges use the table's", r.Name, r.Network)
	}
	if len(r.Paper) > 0 && len(r.Paper) != len(s.Columns) {
		return fmt.Errorf("row %q: %d numbers of the paper, expected one for each of %d columns",
			r.Name, len(r.Paper), len(s.Columns))
	}
	for _, n := range r.Paper {
		if len(n.Values) > len(s.Measures) {
			return fmt.Errorf("row %q: a cell of %d numbers, expected at most one for each of %d measures",
				r.Name, len(n.Values), len(s.Measures))
		}
	}
	return s.checkColumns(r.Skip)
}

// checkDrawn refuses a study that draws only some of its data, or measures drawn data in two ways.
func (s *Study) checkDrawn() error {
	for _, c := range s.Columns {
		if (c.Data == Drawn) != s.Drawn() {
			return fmt.Errorf("column %q: data is %q beside %q, expected %s of all columns or of none",
				c.Name, c.Data, s.Columns[0].Data, Drawn)
		}
	}
	for _, r := range s.Rows {
		switch {
		case r.draws() != s.Drawn() && r.Ratio == nil:
			return fmt.Errorf("row %q: expected cost or estimator if the columns' data is %s, and only then",
				r.Name, Drawn)
		case len(r.Cost) > 0 && len(r.Cost) != 2:
			return fmt.Errorf("row %q: cost is %v, expected a loss and a filter", r.Name, r.Cost)
		case r.draws() && (len(r.Cost) > 0) != (len(s.Rows[0].Cost) > 0):
			return fmt.Errorf("row %q: expected cost in all rows or in none", r.Name)
		}
	}
	return nil
}

// trained reports whether a row of this name is run.
func (s *Study) trained(name string) bool {
	i := s.row(name)
	return i >= 0 && s.Rows[i].Runs()
}

func (s *Study) checkColumns(names []string) error {
	for _, name := range names {
		if s.column(name) < 0 {
			return fmt.Errorf("column %q is not in the study", name)
		}
	}
	return nil
}

func notShare(v float64) bool { return !(v > 0 && v <= 1) }

func (s *Study) checkChart() error {
	if s.Chart == nil {
		return nil
	}
	switch c := s.Chart; {
	case c.Kind == OverColumns:
		if c.Measure != "" && !slices.Contains(s.Measures, c.Measure) {
			return fmt.Errorf("chart: measure %q is not in the study", c.Measure)
		}
	case c.Kind == Maps || c.Kind == Neighbours:
	case !slices.Contains([]string{OverSteps, Histograms, Boxes}, c.Kind):
		return fmt.Errorf("chart: kind is %q, expected %s, %s, %s, %s, %s or %s",
			c.Kind, OverColumns, OverSteps, Histograms, Boxes, Maps, Neighbours)
	case c.Trace == "":
		return fmt.Errorf("chart: %s needs the name of a trace", c.Kind)
	case c.Kind != OverSteps && len(c.At) == 0 || slices.ContainsFunc(c.At, notShare):
		return fmt.Errorf("chart: %s: at is %v, expected shares of the training, above 0 and up to 1", c.Kind, c.At)
	}
	return nil
}
