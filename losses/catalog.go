package losses

import (
	"fmt"
	"math/rand/v2"

	"winnow/internal/catalog"
)

// Against says what a loss may compare a batch with.
type Against string

// A loss of pairs or triplets compares the batch with itself (ref == nil) or with a bank of constants (ref !=
// nil). A proxy loss has its own reference and accepts no other.
const (
	Batch   Against = "batch"   // ref must be nil
	Both    Against = "both"    // ref may be nil or a bank
	Proxies Against = "proxies" // ref must be nil; the loss owns the vectors it compares with
)

// Env describes the run that a loss is built for.
type Env struct {
	Dim, Classes int
	// Rows of one image in a batch are views of it and positives of each other. If false, they are no pair.
	Views bool
	// Build the loss as its paper prints it where we depart from it, see Entry.Printed.
	Printed bool
	Init    *rand.Rand // draws the initial parameters; needed by entries with Params
	// Step returns a new random source that is a function of (seed, "loss", step), so that a resumed run
	// repeats its draws. Entries with Draws need it.
	Step func() *rand.Rand
}

// Entry describes one loss: for people (`winnow list losses`), for the configuration and for tests.
type Entry struct {
	Name       string   // as in configurations
	Aliases    []string // its names in other tools and papers
	Title      string
	Paper      string
	Equation   string // in that paper
	Formula    string
	Settings   []Setting
	Against    Against
	Params     bool   // New returns a Trainable; settings may leave it without parameters
	Weighted   bool   // New returns a Weighted
	Proxied    bool   // New returns a Proxied: its directions stand for the classes, and a filter may judge by them
	Draws      bool   // Eval draws from Env.Step
	Unlabelled bool   // rows of z may have no label (features.Unlabelled)
	Printed    string // what Env.Printed changes; "" if nothing
	New        func(v Values, env Env) (Loss, error)
}

// Catalog lists every loss of winnow. To add one: its file, its line here, its test.
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

// Setting is one number or word that a user may set for a loss. Values are all settings of one loss, complete
// and checked.
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

// Resolve checks settings and adds the defaults. The result is what a run records.
func Resolve(name string, settings map[string]any) (Values, error) {
	entry, err := Find(name)
	if err != nil {
		return nil, err
	}
	return catalog.Resolve("losses: "+name, entry.Settings, settings)
}

// New builds a loss of the catalog. A Loss keeps scratch memory between calls, so only one goroutine may use
// it.
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
		return nil, fmt.Errorf("losses: %s: has parameters to draw, found no random source (Env.Init)", name)
	}
	if entry.Draws && env.Step == nil {
		return nil, fmt.Errorf("losses: %s: draws at every step, found no random source (Env.Step)", name)
	}
	loss, err := entry.New(values, env)
	if v, ok := loss.(viewed); ok && env.Views && err == nil {
		v.showViews()
	}
	return loss, err
}
