package main

import "fmt"

// experiment is what is measured: variants on labels with noise.
type experiment struct {
	places   []place
	variants []variant
	common   []string // flags of every training; none where nothing is trained
}

// place is a dataset with the noises to try on it.
type place struct {
	set    string
	noises []noise
}

// noise is a manifest with wrong labels.
type noise struct {
	name     string
	manifest string  // below -data; "" : the set's own
	rate     float64 // share of its training labels to make wrong
	once     bool    // nothing is drawn: one seed is enough
}

// variant is one way to train, by its flags.
type variant struct {
	name  string
	flags []string
}

// sets are the manifests and stores; glyphs are drawn for each seed.
var sets = map[string]struct{ manifest, store string }{
	"cub":     {"cub.csv", "cub-mobilenetv2"},
	"cifar10": {"cifar10/clean.csv", "cifar10-mobilenetv2"},
	"glyphs":  {},
}

func symmetric(rates ...float64) []noise {
	var list []noise
	for _, r := range rates {
		list = append(list, noise{name: fmt.Sprintf("%.0f %%", 100*r), rate: r})
	}
	return list
}

// human are labels that people gave, with their mistakes.
var human = []noise{
	{name: "people, aggregated", manifest: "cifar10/aggre.csv", once: true},
	{name: "people, random one", manifest: "cifar10/random1.csv", once: true},
	{name: "people, worst", manifest: "cifar10/worse.csv", once: true},
}

var allRates = []float64{0, 0.1, 0.2, 0.3, 0.5, 0.7}

// trained are the settings of every training; the others are winnow's own.
var trained = []string{"--steps", "1000", "--set", "validation.every=500 steps", "--set", "checkpoint=0", "--dim", "256"}

var experiments = map[string]experiment{
	"rate": {
		places:   []place{{"glyphs", symmetric(allRates...)}, {"cub", symmetric(allRates...)}, {"cifar10", append(symmetric(allRates...), human...)}},
		variants: []variant{{name: "all"}},
	},
	"correct": {
		places: []place{{"cub", symmetric(0.5, 0.7)}, {"glyphs", symmetric(0.5, 0.7)}},
		common: trained,
		variants: []variant{
			{"none", nil},
			{"3 visits, 0.99", []string{"--set", "correct.visits=3", "--set", "correct.confidence=0.99"}},
			{"6 visits, 0.9999", []string{"--set", "correct.visits=6", "--set", "correct.confidence=0.9999"}},
		},
	},
	"auto": {
		places: []place{{"cub", symmetric(0, 0.3)}},
		common: trained,
		variants: []variant{
			{"true rate", nil},
			{"auto", []string{"--noise-rate", "auto"}},
			{"0.5", []string{"--noise-rate", "0.5"}},
		},
	},
	"losses": {
		places: []place{{"cub", symmetric(0, 0.2)}},
		common: []string{"--steps", "400", "--set", "validation.every=400 steps", "--set", "checkpoint=0", "--dim", "256", "--filter", "none", "--set", "bank.size=0"},
		variants: []variant{
			{"triplet", loss("triplet")},
			{"triplet, match", loss("triplet", "match=0.5")},
			{"margin", loss("margin", "select=distance_weighted")},
			{"margin, match", loss("margin", "select=distance_weighted", "match=0.5")},
			{"margin, β of a class", loss("margin", "select=distance_weighted", "learn=class")},
			{"multi_similarity", loss("multi_similarity")},
			{"multi_similarity, match", loss("multi_similarity", "match=0.5")},
			{"marginal", loss("marginal", "select=random_semihard")},
			{"marginal, match", loss("marginal", "select=random_semihard", "match=0.5")},
			{"quadruplet", loss("quadruplet")},
		},
	},
}

// loss returns the flags of a loss with settings.
func loss(name string, settings ...string) []string {
	flags := []string{"--loss", name}
	for _, s := range settings {
		flags = append(flags, "--set", "losses.0.settings."+s)
	}
	return flags
}
