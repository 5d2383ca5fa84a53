// Package studies describes the papers' tables and figures as data, and compares winnow's numbers with the papers'.
//
// A [Study] is one table or figure: rows are recipes, columns are datasets with noise, and a cell is one training of a
// row on a column for a seed. The package summarises the [Outcome]s of cells over seeds, tests the paper's claims on
// them and writes text, Markdown, CSV and HTML. Package runner trains and makes the outcomes. Measures are shares in
// [0, 1], except those in notShares; only printed text uses percent.
package studies

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
)

// Study is a table or figure of a paper.
type Study struct {
	Name     string   `yaml:"name"`
	Title    string   `yaml:"title"`
	Paper    string   `yaml:"paper"`    // for example PRISM (001)
	Source   string   `yaml:"source"`   // for example Table I
	Notes    []string `yaml:"notes"`    // printed below the table
	Seeds    int      `yaml:"seeds"`    // default number of repetitions
	State    string   `yaml:"state"`    // which state of a training is measured: last or best
	Unit     string   `yaml:"unit"`     // unit of the paper's numbers and of printed numbers: percent or share
	Measures []string `yaml:"measures"` // first the paper's measures, in the order of the paper's cells
	Set      []string `yaml:"set"`      // settings of all rows
	Tune     []Names  `yaml:"tune"`     // alternative settings; the validation split chooses one of them
	Chart    *Chart   `yaml:"chart"`
	Columns  []Column `yaml:"columns"`
	Rows     []Row    `yaml:"rows"`
	Claims   []Claim  `yaml:"claims"`
	Joint    bool     `yaml:"-"` // Holm's correction counts the comparisons of all claims, not of each
}

// The states of a training that can be measured: the last state, or the best state on the validation split.
const (
	Last = "last"
	Best = "best"
)

// Column is a dataset with noise.
type Column struct {
	Name string `yaml:"name"`
	Data string `yaml:"data"` // the paper's dataset, or Drawn
	// Noise is a noise model of "winnow data corrupt", or "given" for the manifest's labels, or "none" for the true
	// labels.
	Noise string  `yaml:"noise"`
	Rate  float64 `yaml:"rate"` // noise rate
	// Says is the noise rate that filters are given; nil: Rate. If the data are already noisy and the manifest has true
	// labels, filters are given the actual share of wrong labels instead.
	Says *float64 `yaml:"says"`
	X    *float64 `yaml:"x"` // position on the chart's axis; nil: Rate
	Set  []string `yaml:"set"`
}

// Drawn is the data name of a column without files, whose data are drawn from the seed. The settings of such a study
// describe the draws, not a training.
const Drawn = "drawn"

// The labels on which a row can be trained.
const (
	Noisy   = "noisy"   // the column's labels
	True    = "true"    // the true labels, regardless of the column's noise
	Topline = "topline" // the true labels of a share 1 - rate of the samples (Le & Odobez, section 6)
	Oracle  = "oracle"  // the column's labels without the wrong ones, as after a perfect filter
	Random  = "random"  // as many labels as Oracle, chosen at random, to show the effect of less data
)

// Row is a method.
type Row struct {
	Name   string   `yaml:"name"`
	Recipe string   `yaml:"recipe"` // a recipe of run/config for stored features, or default for winnow's settings
	Whole  string   `yaml:"whole"`  // replaces Recipe if the network is trained as well
	Set    []string `yaml:"set"`
	Tune   []Names  `yaml:"tune"`   // replaces the study's
	Labels string   `yaml:"labels"` // one of the names above; "": Noisy
	// Network is the network that made the row's features, if it is not the table's network. Datasets then have other
	// names, see [Row.Source].
	Network string `yaml:"network"`
	Ratio   *Ratio `yaml:"ratio"` // computes the row from two others, seed by seed

	// Judge is the scorer of "winnow audit" that scores the training labels, in the recipe's final embedding or,
	// without a recipe, on the stored features.
	Judge     string `yaml:"judge"`
	Untrained string `yaml:"untrained"` // instead of a recipe: frozen (features as stored) or whitened

	// Estimator is a name of theory.Estimators that estimates a class's concentration, for columns with data Drawn.
	Estimator string `yaml:"estimator"`

	Skip  []string `yaml:"skip"`  // columns to which the method does not apply
	Paper []Number `yaml:"paper"` // the paper's number for each column, or none
}

// Values of Row.Untrained: rows that are measured without a training.
const (
	Frozen   = "frozen"
	Whitened = "whitened"
)

// Choices returns the alternative settings of a row's trainings, or none.
func (s *Study) Choices(row Row) []Names {
	switch {
	case row.Recipe == "":
		return nil
	case len(row.Tune) > 0:
		return row.Tune
	}
	return s.Tune
}

// Runs reports whether a row has its own cells and is not computed from other rows.
func (r Row) Runs() bool { return r.Ratio == nil }

// Source returns the name of the row's data in a column: the column's dataset. If the row has its own network, @ and
// the network's name follow.
func (r Row) Source(c Column) string {
	if r.Network == "" {
		return c.Data
	}
	return c.Data + "@" + r.Network
}

// Ratio describes a row that is one row (Of) divided by another (To).
type Ratio struct {
	Of string `yaml:"of"`
	To string `yaml:"to"`
}

// Chart describes a study's chart.
type Chart struct {
	Kind    string    `yaml:"kind"`    // OverColumns, OverSteps, Histograms or Boxes
	Measure string    `yaml:"measure"` // measure drawn over the columns; "": the study's first measure
	Trace   string    `yaml:"trace"`   // name of the recorded trace
	Rows    Names     `yaml:"rows"`    // over columns: the rows and columns that are drawn; none: all
	Columns Names     `yaml:"columns"`
	At      []float64 `yaml:"at"` // times of histograms and boxes, as shares of the training's steps
	X       string    `yaml:"x"`  // title of the axis, with its unit
	Y       string    `yaml:"y"`
	Log     bool      `yaml:"log"` // both axes are logarithmic
}

// Kinds of charts.
const (
	OverColumns = "columns"    // a measure over the columns' X, with a line for each row
	OverSteps   = "trace"      // a trace over the steps of a run, with a line for each row
	Histograms  = "histograms" // scores of right and wrong labels, with a histogram for each row and step
	Boxes       = "boxes"      // distributions of values after some steps, with a box for each row
)

// Number is a cell of the paper's table, with values in the order of the study's measures. In YAML it is written as
// "83.30/26.49", with a question mark if it is doubtful ("77.6 ?"), or as "-" if the cell is empty.
type Number struct {
	Values   []float64
	Doubtful bool
}

// UnmarshalYAML implements yaml.BytesUnmarshaler.
func (n *Number) UnmarshalYAML(text []byte) error {
	s := strings.Trim(strings.TrimSpace(string(text)), `"'`)
	*n = Number{}
	if s == "-" || s == "" {
		return nil
	}
	s, n.Doubtful = strings.CutSuffix(s, "?")
	for part := range strings.SplitSeq(strings.TrimSpace(s), "/") {
		part, _, _ = strings.Cut(part, "±")
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return fmt.Errorf("found %q, expected a number, several as 83.30/26.49, with ? after a doubtful one, "+
				"or -", s)
		}
		n.Values = append(n.Values, v)
	}
	return nil
}

// Names is one name or a list of them.
type Names []string

// UnmarshalYAML implements yaml.BytesUnmarshaler.
func (n *Names) UnmarshalYAML(text []byte) error {
	var list []string
	if err := yaml.Unmarshal(text, &list); err == nil {
		*n = list
		return nil
	}
	var one string
	if err := yaml.Unmarshal(text, &one); err != nil {
		return err
	}
	*n = Names{one}
	return nil
}

// parseStudy parses a study and rejects unknown keys. Errors contain name. A test checks every study.
func parseStudy(name string, text []byte) (Study, error) {
	s := Study{Seeds: 3, State: Last, Unit: "percent"}
	if err := yaml.UnmarshalWithOptions(text, &s, yaml.Strict()); err != nil {
		return s, fmt.Errorf("reproduce: %s: %s", name, yaml.FormatError(err, false, false))
	}
	return s, nil
}

// Drawn reports whether a study needs no data.
func (s *Study) Drawn() bool { return s.Columns[0].Data == Drawn }

// findRowIndex returns the index of a row, or -1.
func (s *Study) findRowIndex(name string) int {
	return slices.IndexFunc(s.Rows, func(r Row) bool { return r.Name == name })
}

// Datasets returns the names of the datasets, in the order of the columns.
func (s *Study) Datasets() []string {
	var names []string
	for _, c := range s.Columns {
		if !slices.Contains(names, c.Data) {
			names = append(names, c.Data)
		}
	}
	return names
}

// Sources returns the names of the study's data: first the datasets, then the data for rows with their own network.
func (s *Study) Sources() []string {
	names := s.Datasets()
	for _, r := range s.Rows {
		for _, c := range s.Columns {
			if name := r.Source(c); !slices.Contains(names, name) && !slices.Contains(r.Skip, c.Name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// RowNames returns the names of all rows, in the table's order.
func (s *Study) RowNames() (names []string) {
	for _, row := range s.Rows {
		names = append(names, row.Name)
	}
	return names
}

// ColumnNames returns the names of all columns, in the table's order.
func (s *Study) ColumnNames() (names []string) {
	for _, column := range s.Columns {
		names = append(names, column.Name)
	}
	return names
}
