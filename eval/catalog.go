package eval

import (
	"context"

	"winnow/features"
	"winnow/internal/catalog"
)

// Entry describes one metric for the docs (`winnow list metrics`), for `winnow eval` and for tests.
type Entry struct {
	Name     string
	Title    string
	Paper    string
	Equation string // in that paper; "" if the paper gives none
	Formula  string
	Numbers  []Number // numbers in the result, most important first
	Settings []Setting
	Train    bool   // needs a second labelled set for fitting
	Draws    bool   // depends on a seed
	Truth    bool   // needs true labels
	Costly   bool   // takes longer than comparing all pairs of rows
	Command  string // the command that measures it
	Cost     string // time complexity

	// Measure is nil if the metric does not apply to vectors. Settings are complete and checked.
	Measure func(ctx context.Context, in Input, v Values) (Result, error)
}

// Number describes one number of a metric. All numbers are shares in [0, 1] except AMI and ARI, which may be negative.
// Larger is better.
type Number struct {
	Key   string `json:"key"`   // key in JSON
	Label string `json:"label"` // column heading
	Doc   string `json:"doc"`
}

// Input holds the vectors that a metric measures: unit rows with labels. Rows without a label are ignored.
type Input struct {
	Test    features.Set
	Gallery *features.Set // nil: the rows of Test are compared with each other
	Same    Same          // gallery images to leave out for each query
	Train   *features.Set // set for fitting; nil if there is none
	Seed    uint64
	MaxMem  Bytes // bytes of similarities in memory at once; 0: DefaultMaxMem
}

// Catalog lists every metric of winnow in display order. A new metric needs a file, an entry here and a test.
var Catalog = []Entry{retrievalEntry, clusteringEntry, classMeanEntry, probeEntry, detectionEntry}

// Setting is one setting of a metric. Values holds all settings of a metric, complete and checked.
type (
	Setting = catalog.Setting
	Values  = catalog.Values
)

// Find returns the entry with the given name.
func Find(name string) (Entry, error) {
	return catalog.Find("eval: metric", name, Catalog, func(e Entry) []string { return []string{e.Name} })
}

// Resolve completes an entry's settings with the defaults. given holds the texts by setting name.
func (e Entry) Resolve(given map[string]string) (Values, error) {
	return catalog.ResolveTexts("eval: "+e.Name, e.Settings, given)
}
