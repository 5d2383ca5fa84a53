package eval

import (
	"context"

	"winnow/features"
	"winnow/internal/catalog"
)

// Entry is one metric as the catalog tells it: to people (`winnow metrics`), to `winnow eval`, to tests.
type Entry struct {
	Name     string
	Title    string
	Paper    string
	Equation string // in that paper; "" where the paper gives none
	Formula  string
	Numbers  []Number // what it says, the most telling first
	Settings []Setting
	Train    bool   // needs labelled vectors to fit beside those to judge
	Draws    bool   // depends on a seed
	Truth    bool   // needs to know which given labels are wrong
	Costly   bool   // takes longer than comparing all with all once
	Command  string // which command measures it
	Cost     string // in time

	// Measure is nil where the metric is of something else than vectors. Settings are complete and checked.
	Measure func(ctx context.Context, in Input, v Values) (Result, error)
}

// Number describes one number of a metric. All are shares in [0, 1] and better the greater, but for AMI and ARI,
// which may fall below 0.
type Number struct {
	Key   string `json:"key"`   // in JSON
	Label string `json:"label"` // over a column
	Doc   string `json:"doc"`
}

// Input is what a metric of vectors looks at: unit rows with labels. Rows without a label take no part.
type Input struct {
	Test    features.Set
	Gallery *features.Set // nil: the rows of Test ask each other
	Train   *features.Set // to fit on; nil where there is none
	Seed    uint64
	MaxMem  int64 // bytes of similarities held at once; 0: DefaultMaxMem
}

// Catalog is every metric of winnow, in the order they are shown. To add one: its file, its line here, its test.
var Catalog = []Entry{retrievalEntry, clusteringEntry, classMeanEntry, probeEntry, detectionEntry}

// Setting is one thing that a person may choose of a metric, Values those of one metric, complete and checked.
type (
	Setting = catalog.Setting
	Values  = catalog.Values
)

// Find returns the entry of that name.
func Find(name string) (Entry, error) {
	return catalog.Find("eval: metric", name, Catalog, func(e Entry) []string { return []string{e.Name} })
}

// Resolve completes an entry's settings with its defaults. Given are texts by the setting's name.
func (e Entry) Resolve(given map[string]string) (Values, error) {
	return catalog.ResolveTexts("eval: "+e.Name, e.Settings, given)
}
