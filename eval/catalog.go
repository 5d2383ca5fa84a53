package eval

import (
	"context"

	"winnow/features"
	"winnow/internal/catalog"
)

// Entry describes one metric: for people (`winnow list metrics`), for `winnow eval` and for tests.
type Entry struct {
	Name     string
	Title    string
	Paper    string
	Equation string // in that paper; "" if the paper gives none
	Formula  string
	Numbers  []Number // its results, the most important first
	Settings []Setting
	Train    bool   // needs labelled vectors to fit, besides those to judge
	Draws    bool   // depends on a seed
	Truth    bool   // needs to know which given labels are wrong
	Costly   bool   // takes longer than comparing all rows with each other once
	Command  string // the command that measures it
	Cost     string // time complexity

	// Measure is nil if the metric does not apply to vectors. Settings are complete and checked.
	Measure func(ctx context.Context, in Input, v Values) (Result, error)
}

// Number describes one number of a metric. All are shares in [0, 1], and larger is better; only AMI and ARI may
// be below 0.
type Number struct {
	Key   string `json:"key"`   // in JSON
	Label string `json:"label"` // column heading
	Doc   string `json:"doc"`
}

// Input holds what a metric of vectors measures: unit rows with labels. Rows without a label are ignored.
type Input struct {
	Test    features.Set
	Gallery *features.Set // nil: the rows of Test are compared with each other
	Same    Same          // images of the gallery that a query does not search for
	Train   *features.Set // to fit on; nil if there is none
	Seed    uint64
	MaxMem  Bytes // bytes of similarities in memory at once; 0: DefaultMaxMem
}

// Catalog lists every metric of winnow in display order. To add one: its file, its line here, its test.
var Catalog = []Entry{retrievalEntry, clusteringEntry, classMeanEntry, probeEntry, detectionEntry}

// Setting is one choice that a metric offers. Values are all settings of one metric, complete and checked.
type (
	Setting = catalog.Setting
	Values  = catalog.Values
)

// Find returns the entry with that name.
func Find(name string) (Entry, error) {
	return catalog.Find("eval: metric", name, Catalog, func(e Entry) []string { return []string{e.Name} })
}

// Resolve adds the defaults to an entry's settings. given holds texts by setting name.
func (e Entry) Resolve(given map[string]string) (Values, error) {
	return catalog.ResolveTexts("eval: "+e.Name, e.Settings, given)
}
