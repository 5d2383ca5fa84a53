package losses

import (
	"fmt"
	"math/rand/v2"

	"winnow/internal/catalog"
)

// Against identifies the reference with which a loss may compare a batch.
type Against string

// A loss of pairs or triplets compares the batch with itself (ref == nil) or with a bank of constant vectors (ref !=
// nil). A loss with proxies compares the batch with its own proxies and accepts no ref.
const (
	Batch   Against = "batch"   // ref must be nil
	Both    Against = "both"    // ref may be nil or a bank
	Proxies Against = "proxies" // ref must be nil; the loss compares with its own vectors
)

// Env describes the run that a loss is built for.
type Env struct {
	Dim, Classes int
	// Whether rows of one image in a batch are views of it, and positives of each other. If false, they form no pair.
	Views bool
	// Build the loss as printed in its paper where winnow departs from it; see Entry.Printed.
	Printed bool
	Init    *rand.Rand // draws the initial parameters; needed by entries with Params
	// Step returns a new random source that depends only on (seed, "loss", step), so that a resumed run draws the same
	// numbers. Entries with Draws need it.
	Step func() *rand.Rand
}

// Entry describes one loss for `winnow list losses`, the configuration and the tests.
type Entry struct {
	Name       string   // name in configurations
	Aliases    []string // names of the loss in other tools and papers
	Title      string
	Paper      string
	Equation   string // number of the equation in Paper
	Formula    string
	Settings   []Setting
	Against    Against
	Params     bool   // New returns a Trainable, which may have no parameters for some settings
	Weighted   bool   // New returns a Weighted
	Proxied    bool   // New returns a Proxied: its directions represent the classes, and a filter may use them
	Draws      bool   // Eval draws from Env.Step
	Unlabelled bool   // rows of z may have no label (features.Unlabelled)
	Printed    string // effect of Env.Printed; "" if it has no effect
	New        func(v Values, env Env) (Loss, error)
}

// Catalog lists every loss of winnow. A new loss needs a file, a line here and a test.
var Catalog = []Entry{
	// Losses of pairs.
	contrastiveEntry,
	contrastiveMarginEntry,
	marginalEntry,
	unhingedMarginalEntry,
	auxiliaryPairEntry,
	snrEntry,

	// Losses of an anchor with all its pairs.
	multiSimilarityEntry,
	weightedMSEntry,
	circleEntry,
	fastAPEntry,
	ntxentEntry,
	supconEntry,
	sclRHEEntry,

	// Losses of triplets and quadruplets.
	tripletEntry,
	unhingedTripletEntry,
	rdmlEntry,
	marginEntry,
	quadrupletEntry,
	adaptedTripletEntry,

	// Losses of classes.
	nPairEntry,
	softTripleEntry,
	proxyNCAEntry,
	proxyAnchorEntry,
	normSoftmaxEntry,
	crossEntropyEntry,
}

// Setting is a number or word that a user may set for a loss. Values holds all settings of one loss, complete and
// checked.
type (
	Setting = catalog.Setting
	Values  = catalog.Values
)

// Find returns the entry with that name or alias. It ignores case and hyphens: "Proxy-Anchor" is proxy_anchor.
func Find(name string) (Entry, error) {
	return catalog.Find("losses: loss", name, Catalog, func(e Entry) []string {
		return append([]string{e.Name}, e.Aliases...)
	})
}

// Resolve checks settings and adds the defaults. A run records the result.
func Resolve(name string, settings map[string]any) (Values, error) {
	entry, err := Find(name)
	if err != nil {
		return nil, err
	}
	return catalog.Resolve("losses: "+name, entry.Settings, settings)
}

// New builds a loss of the catalog. A Loss keeps scratch memory between calls, so only one goroutine may use it.
func New(name string, settings map[string]any, env Env) (Loss, error) {
	entry, err := Find(name)
	if err != nil {
		return nil, err
	}
	values, err := catalog.Resolve("losses: "+name, entry.Settings, settings)
	if err != nil {
		return nil, err
	}
	if env.Dim < 1 || env.Classes < 1 {
		return nil, fmt.Errorf("losses: %s: found %d dimensions and %d classes, expected at least one of each", name,
			env.Dim, env.Classes)
	}
	if entry.Params && env.Init == nil {
		return nil, fmt.Errorf("losses: %s: Env.Init is nil, expected a random source for the initial parameters", name)
	}
	if entry.Draws && env.Step == nil {
		return nil, fmt.Errorf("losses: %s: Env.Step is nil, expected a function that returns a random source", name)
	}
	loss, err := entry.New(values, env)
	if v, ok := loss.(viewed); ok && env.Views && err == nil {
		v.showViews()
	}
	return loss, err
}
