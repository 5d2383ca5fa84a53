// Package studies holds the papers' tables and figures as data, and puts winnow's numbers beside them.
//
// A [Study] is one table or figure: rows are recipes, columns are datasets with noise, and a cell is one training of a
// row on a column for a seed. The package plans cells, keeps what came of them in one file each, sums them up over
// seeds, tests the paper's claims on them and writes text, Markdown, CSV and HTML. It trains nothing: package
// runner gives it the [Outcome]s of the cells. Measures are shares in [0, 1] unless a measure is said to be something else; percent
// exists in what is printed alone.
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
	Name      string   `yaml:"name"`
	Title     string   `yaml:"title"`
	Paper     string   `yaml:"paper"`      // PRISM (001)
	Source    string   `yaml:"source"`     // Table I
	Notes     []string `yaml:"notes"`      // printed below the table
	HeadNotes []string `yaml:"head_notes"` // and these, where heads on stored features are trained
	Seeds     int      `yaml:"seeds"`      // repetitions unless asked for otherwise
	State     string   `yaml:"state"`      // last or best: which state of a training is measured
	Unit      string   `yaml:"unit"`       // of the paper's numbers, and of ours when printed: percent or share
	Measures  []string `yaml:"measures"`   // the first ones are the paper's, in the order of its cells
	Set       []string `yaml:"set"`        // settings of all rows
	Tune      []Names  `yaml:"tune"`       // settings that each training of a recipe chooses from by its validation split
	Chart     *Chart   `yaml:"chart"`
	Columns   []Column `yaml:"columns"`
	Rows      []Row    `yaml:"rows"`
	Claims    []Claim  `yaml:"claims"`
}

// The state of a training that is measured: the one it ends with, or the best on the validation split.
const (
	Last = "last"
	Best = "best"
)

// Column is what all rows are trained on.
type Column struct {
	Name  string   `yaml:"name"`
	Data  string   `yaml:"data"`  // the paper's dataset, or Drawn
	Noise string   `yaml:"noise"` // a model of winnow data corrupt; given: labels as the manifest gives them; none: the true ones
	Rate  float64  `yaml:"rate"`  // of noise
	Says  *float64 `yaml:"says"`  // the rate that filters are told; nil: Rate. Of given labels the share that is known to be wrong counts before it
	X     *float64 `yaml:"x"`     // place on the chart's axis; nil: Rate
	Set   []string `yaml:"set"`
}

// Drawn is the data of a column that needs none: what it needs is drawn from the seed. Settings of such a study are those of the
// command that measures it.
const Drawn = "drawn"

// How labels come to a row.
const (
	Noisy   = "noisy"   // as the column says
	True    = "true"    // the true ones, whatever the column's noise
	Topline = "topline" // the true ones of a share 1 - rate of the samples (Le & Odobez, section 6)
)

// Row is a method.
type Row struct {
	Name   string   `yaml:"name"`
	Recipe string   `yaml:"recipe"` // of run/recipes, or default: winnow's own settings
	Whole  string   `yaml:"whole"`  // instead of Recipe, which is one for stored features, where the network is trained too
	Set    []string `yaml:"set"`
	Tune   []Names  `yaml:"tune"`   // instead of the study's
	Labels string   `yaml:"labels"` // Noisy (also ""), True or Topline
	// Network is what made the features that the row is trained on, where it is another one than the table's: data sets
	// go by other names then, see [Row.Source].
	Network string `yaml:"network"`
	Ratio   *Ratio `yaml:"ratio"` // the row is computed from two others, seed by seed

	// Judge is the scorer of winnow audit that judges the training labels: in the embedding that the recipe reached, by what its
	// training saw of them, or, without a recipe, of the stored features.
	Judge     string `yaml:"judge"`
	Untrained string `yaml:"untrained"` // instead of a recipe: the features as stored (frozen), or whitened
	Estimate  string `yaml:"estimate"`  // instead of a recipe: a method of winnow noise

	// Of columns whose data is Drawn.
	Cost      Names  `yaml:"cost"`      // a loss and a filter (or none) whose training steps are timed
	Estimator string `yaml:"estimator"` // of a class's concentration: a name of concentration.Estimators

	Skip  []string `yaml:"skip"`  // columns that the method is not made for
	Paper []Number `yaml:"paper"` // one a column, or none
}

// The rows that are measured without a training.
const (
	Frozen   = "frozen"
	Whitened = "whitened"
)

// Choices returns the settings that a row's trainings choose from; none where there is nothing to choose.
func (s *Study) Choices(row Row) []Names {
	switch {
	case row.Recipe == "":
		return nil
	case len(row.Tune) > 0:
		return row.Tune
	}
	return s.Tune
}

// Runs reports whether a row has cells, and is not computed from others.
func (r Row) Runs() bool { return r.Ratio == nil }

// Source returns the name under which the row's data of a column are given: the column's data set, and behind @ the network that
// made its features, where it is not the table's.
func (r Row) Source(c Column) string {
	if r.Network == "" {
		return c.Data
	}
	return c.Data + "@" + r.Network
}

// kinds counts the ways in which a row is made: exactly one is right.
func (r Row) kinds() (n int) {
	for _, is := range []bool{r.Recipe != "", r.Ratio != nil, r.Untrained != "", r.Estimate != "", r.Judge != "" && r.Recipe == "", r.draws()} {
		if is {
			n++
		}
	}
	return n
}

// draws reports whether a row is measured on what is drawn.
func (r Row) draws() bool { return len(r.Cost) > 0 || r.Estimator != "" }

// Ratio is one row divided by another.
type Ratio struct {
	Of string `yaml:"of"`
	To string `yaml:"to"`
}

// Chart says how a study is drawn.
type Chart struct {
	Kind    string    `yaml:"kind"`    // OverColumns, OverSteps, Histograms, Boxes, Maps or Neighbours
	Measure string    `yaml:"measure"` // of columns; the first one where it is empty
	Trace   string    `yaml:"trace"`   // name of what was recorded
	At      []float64 `yaml:"at"`      // after which shares of the training histograms and boxes are taken
	X       string    `yaml:"x"`       // the axis in words, with its unit
	Y       string    `yaml:"y"`
	Log     bool      `yaml:"log"` // both axes are logarithmic
}

// Kinds of charts.
const (
	OverColumns = "columns"    // a measure over the columns' X, a line a row
	OverSteps   = "trace"      // what a run recorded over its steps, a line a row
	Histograms  = "histograms" // scores of right and wrong labels, one for each row and step
	Boxes       = "boxes"      // how values are spread after some steps, a box a row
	Neighbours  = "neighbours" // some test images with their nearest, as pictures: what each training finds, below each other
	Maps        = "map"        // the test images as points of a plane, by t-SNE, one for each row
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
			return fmt.Errorf("found %q, expected a number, several as 83.30/26.49, with ? behind a doubtful one, or -", s)
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

// Parse reads a study strictly and checks it whole; name stands in the errors.
func Parse(name string, text []byte) (Study, error) {
	s := Study{Seeds: 3, State: Last, Unit: "percent"}
	if err := yaml.UnmarshalWithOptions(text, &s, yaml.Strict()); err != nil {
		return s, fmt.Errorf("reproduce: %s: %s", name, yaml.FormatError(err, false, false))
	}
	if err := s.check(); err != nil {
		return s, fmt.Errorf("reproduce: %s: %w", name, err)
	}
	return s, nil
}

// Drawn reports whether a study needs no data.
func (s *Study) Drawn() bool { return s.Columns[0].Data == Drawn }

// LookAt makes the study take histograms and boxes after other shares of the training than its own.
func (s *Study) LookAt(shares []float64) error {
	if s.Chart == nil || len(s.Chart.At) == 0 {
		return fmt.Errorf("%s looks at no single steps: there is nothing to choose", s.Name)
	}
	s.Chart.At = shares
	return s.checkChart()
}

// row returns the index of a row, or -1.
func (s *Study) row(name string) int {
	return slices.IndexFunc(s.Rows, func(r Row) bool { return r.Name == name })
}

// column returns the index of a column, or -1.
func (s *Study) column(name string) int {
	return slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == name })
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

// Sources returns the names that data can be given under: those of the datasets, then those of rows with a network of their own.
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

// Cells returns the number of cells of one seed.
func (s *Study) Cells() (n int) {
	for _, row := range s.Rows {
		if row.Runs() {
			n += (len(s.Columns) - len(row.Skip)) * max(len(s.Choices(row)), 1)
		}
	}
	return n
}
