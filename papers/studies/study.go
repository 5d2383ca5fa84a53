// Package studies holds the papers' tables and figures as data, and compares winnow's numbers with theirs.
//
// A [Study] is one table or figure: rows are recipes, columns are datasets with noise, and a cell is one training of a
// row on a column for a seed. The package sums up the [Outcome]s of cells over seeds, tests the paper's claims on them
// and writes text, Markdown, CSV and HTML. It trains nothing: package runner makes the outcomes. Measures are shares in
// [0, 1], except those in notShares; percent exists only in printed text.
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
	Paper    string   `yaml:"paper"`    // PRISM (001)
	Source   string   `yaml:"source"`   // Table I
	Notes    []string `yaml:"notes"`    // printed below the table
	Seeds    int      `yaml:"seeds"`    // default number of repetitions
	State    string   `yaml:"state"`    // the state of a training that is measured: last or best
	Unit     string   `yaml:"unit"`     // of the paper's numbers, and of ours when printed: percent or share
	Measures []string `yaml:"measures"` // the paper's come first, in the order of its cells
	Set      []string `yaml:"set"`      // settings of all rows
	Tune     []Names  `yaml:"tune"`     // settings that trainings choose from by their validation split
	Chart    *Chart   `yaml:"chart"`
	Columns  []Column `yaml:"columns"`
	Rows     []Row    `yaml:"rows"`
	Claims   []Claim  `yaml:"claims"`
}

// The state of a training that is measured: the last, or the best on the validation split.
const (
	Last = "last"
	Best = "best"
)

// Column is a dataset with noise.
type Column struct {
	Name string `yaml:"name"`
	Data string `yaml:"data"` // the paper's dataset, or Drawn
	// Noise is a model of winnow data corrupt; given: labels as in the manifest; none: the true labels.
	Noise string  `yaml:"noise"`
	Rate  float64 `yaml:"rate"` // of noise
	// Says is the noise rate that filters are given; nil: Rate. If the noise is in the data and the manifest has true
	// labels, filters are given the share of wrong labels instead.
	Says *float64 `yaml:"says"`
	X    *float64 `yaml:"x"` // position on the chart's axis; nil: Rate
	Set  []string `yaml:"set"`
}

// Drawn is the data of a column without files: its data are drawn from the seed. The settings of such a study are not
// those of a training.
const Drawn = "drawn"

// The labels that a row is trained on.
const (
	Noisy   = "noisy"   // the column's
	True    = "true"    // the true ones, whatever the column's noise
	Topline = "topline" // the true ones of a share 1 - rate of the samples (Le & Odobez, section 6)
	Oracle  = "oracle"  // the column's without the wrong ones: what a filter without error would keep
	Random  = "random"  // the column's without as many drawn at random: what dropping alone does
)

// Row is a method.
type Row struct {
	Name   string   `yaml:"name"`
	Recipe string   `yaml:"recipe"` // of run/recipes, or default: winnow's own settings
	Whole  string   `yaml:"whole"`  // instead of Recipe, which is for stored features, if the network is trained too
	Set    []string `yaml:"set"`
	Tune   []Names  `yaml:"tune"`   // instead of the study's
	Labels string   `yaml:"labels"` // one of the above; Noisy also ""
	// Network made the features of the row, if it is not the table's network. Datasets then have other names, see
	// [Row.Source].
	Network string `yaml:"network"`
	Ratio   *Ratio `yaml:"ratio"` // computes the row from two others, seed by seed

	// Judge is the scorer of winnow audit that judges the training labels: in the recipe's final embedding or,
	// without a recipe, on the stored features.
	Judge     string `yaml:"judge"`
	Untrained string `yaml:"untrained"` // instead of a recipe: the features as stored (frozen), or whitened

	// Estimator of a class's concentration, for columns whose data is Drawn: a name of theory.Estimators.
	Estimator string `yaml:"estimator"`

	Skip  []string `yaml:"skip"`  // columns that the method does not apply to
	Paper []Number `yaml:"paper"` // one for each column, or none
}

// The rows that are measured without a training.
const (
	Frozen   = "frozen"
	Whitened = "whitened"
)

// Choices returns the settings that a row's trainings choose from, or none.
func (s *Study) Choices(row Row) []Names {
	switch {
	case row.Recipe == "":
		return nil
	case len(row.Tune) > 0:
		return row.Tune
	}
	return s.Tune
}

// Runs reports whether a row has cells of its own, not computed from other rows.
func (r Row) Runs() bool { return r.Ratio == nil }

// Source returns the name of the row's data of a column: the column's dataset, followed by @ and the network that made
// the features if it is not the table's.
func (r Row) Source(c Column) string {
	if r.Network == "" {
		return c.Data
	}
	return c.Data + "@" + r.Network
}

// Ratio is one row divided by another.
type Ratio struct {
	Of string `yaml:"of"`
	To string `yaml:"to"`
}

// Chart says how a study is drawn.
type Chart struct {
	Kind    string    `yaml:"kind"`    // OverColumns, OverSteps, Histograms or Boxes
	Measure string    `yaml:"measure"` // of columns; "": the first one
	Trace   string    `yaml:"trace"`   // name of the recorded trace
	At      []float64 `yaml:"at"`      // shares of the training after which histograms and boxes are taken
	X       string    `yaml:"x"`       // the axis in words, with its unit
	Y       string    `yaml:"y"`
	Log     bool      `yaml:"log"` // both axes are logarithmic
}

// Kinds of charts.
const (
	OverColumns = "columns"    // a measure over the columns' X, a line for each row
	OverSteps   = "trace"      // a trace over the steps of a run, a line for each row
	Histograms  = "histograms" // scores of right and wrong labels, one for each row and step
	Boxes       = "boxes"      // distributions of values after some steps, a box for each row
)

// Number is a cell of the paper's table: values in the order of the study's measures. "83.30/26.49", "77.6 ?" for a
// doubtful one, "-" for none.
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

// parseStudy reads a study strictly; errors contain name. A test checks every study.
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

// Sources returns the names of the data: the datasets, then those for rows with a network of their own.
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
