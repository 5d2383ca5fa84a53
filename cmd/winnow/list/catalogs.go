package list

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/audit"
	"winnow/eval"
	filtering "winnow/filters"
	"winnow/internal/catalog"
	loss "winnow/losses"
	"winnow/models/architecture"
	"winnow/run/config"
)

// fromCatalog returns a find function for a catalog. describe converts an entry of the catalog to an [Entry].
func fromCatalog[E any](all func() []E, byName func(string) (E, error), describe func(E) Entry) find {
	return func(name string) (entries []Entry, err error) {
		list := all()
		if name != "" {
			e, err := byName(name)
			if err != nil {
				return nil, err
			}
			list = []E{e}
		}
		for _, e := range list {
			entries = append(entries, describe(e))
		}
		return entries, nil
	}
}

func newLossesCommand() *cli.Command {
	return newCommand("losses", "list the losses, or describe one: formula, settings, paper and equation",
		"winnow train --loss NAME chooses a loss. NAME:bank compares with the memory bank, NAME:0.5 sets a\n"+
			"weight, and several losses are added: --loss multi_similarity --loss proxy_anchor:0.5. --set\n"+
			"losses.0.settings.NAME=VALUE changes a setting; losses are numbered in the order of the --loss flags.\n\n"+
			"In the formulas, s is the cosine of two vectors, d their distance, and D = d²; i or a is an anchor,\n"+
			"P and N are its positives and negatives; [x]₊ is max(x, 0), mean₊ the mean of the terms above 0,\n"+
			"and R the reduction. Five papers have numbers: 000 Le & Odobez, 001 PRISM, 002 BSPML, 003 Adapted\n"+
			"triplet, 004 SCL-RHE.",
		fromCatalog(func() []loss.Entry { return loss.Catalog }, loss.Find, describeLoss))
}

func describeLoss(e loss.Entry) Entry {
	against := map[loss.Against]string{loss.Both: "batch or bank", loss.Proxies: "its own vectors"}[e.Against]
	if against == "" {
		against = "batch"
	}
	var notes []string
	for _, n := range []struct {
		applies bool
		text    string
	}{
		{e.Params, "has its own trainable parameters (loss_solver, loss_schedule)"},
		{e.Proxied, "its class vectors are used by the filter proxysim"},
		{e.Unlabelled, "also learns from images without a label (sampler.unlabelled=N in a batch)"},
		{e.Weighted, "takes a weight in [0, 1] for each sample"},
		{e.Draws, "samples at random if its settings say so, reproducibly by seed and step"},
	} {
		if n.applies {
			notes = append(notes, n.text)
		}
	}
	return Entry{Settings: e.Settings, Fields: []Field{
		{"name", e.Name, true}, {"also", strings.Join(e.Aliases, ", "), false}, {"loss", e.Title, true},
		{"formula", e.Formula, false}, {"compares with", against, true},
		{"source", citeSource(e.Paper, e.Equation), true}, {"notes", strings.Join(notes, "\n"), false},
		{"as printed (--paper-variant)", e.Printed, false},
	}}
}

func newFiltersCommand() *cli.Command {
	return newCommand("filters", "list the filters that drop label errors while training, or describe one", `
During training, a filter scores every label of a batch, and the labels with the lowest scores are left out of the
step. Their share is --noise-rate, or an estimate with auto. winnow train --filter NAME chooses a filter, and --set
filter.SETTING=VALUE changes a setting; --filter none uses every label.

Before training, --screen leaves out the labels that winnow audit would flag.

   winnow train --manifest noisy.csv --features features --filter avgsim --noise-rate 0.3 --out run
`, fromCatalog(func() []filtering.Entry { return filtering.Catalog }, filtering.Find, describeFilter))
}

func describeFilter(e filtering.Entry) Entry {
	var by []string
	if e.NeedsProxy {
		by = append(by, "the loss's class vectors")
	}
	if e.NeedsBank {
		by = append(by, "the memory bank")
	}
	if by == nil {
		by = []string{"the batch"}
	}
	scores := "cosines from −1 to 1; 1 if the filter cannot score the label"
	if e.Probability {
		scores = "P(label correct)"
	}
	thresholds := []string{filtering.ThresholdMedian, filtering.ThresholdTRM, filtering.ThresholdPaper}
	if e.FixedBar {
		thresholds = append(thresholds, filtering.ThresholdFixed)
	}
	return Entry{Settings: e.Settings, Fields: []Field{
		{"name", e.Name, true}, {"filter", e.Title, true}, {"compares with", strings.Join(by, ", and "), true},
		{"scores", scores, false},
		{"thresholds", strings.Join(thresholds, ", ") + " (--set filter.threshold=NAME)", false},
		{"source", citeSource(e.Paper, e.Equation), true}, {"as printed (--paper-variant)", e.Printed, false},
	}}
}

func newMetricsCommand() *cli.Command {
	return newCommand("metrics", "list the metrics, or describe one: formula, settings, paper and equation",
		"The metrics of winnow eval --metrics and of the audit.",
		fromCatalog(func() []eval.Entry { return eval.Catalog }, eval.Find, describeMetric))
}

func describeMetric(e eval.Entry) Entry {
	needs, command := "labels", "winnow "+e.Command
	switch {
	case e.Truth:
		needs = "true labels"
	case e.Train:
		needs = "labels, a split to fit on"
	}
	if e.Measure != nil {
		command += " --metrics " + e.Name
	}
	var labels, numbers []string
	for _, n := range e.Numbers {
		labels, numbers = append(labels, n.Label), append(numbers, n.Label+": "+n.Doc)
	}
	return Entry{Settings: e.Settings, Fields: []Field{
		{"name", e.Name, true}, {"metric", e.Title, false}, {"numbers", strings.Join(labels, ", "), true},
		{"formula", e.Formula, false}, {"meaning", strings.Join(numbers, "\n"), false}, {"needs", needs, true},
		{"time", e.Cost, false}, {"command", command, true}, {"source", citeSource(e.Paper, e.Equation), true},
	}}
}

func newScorersCommand() *cli.Command {
	return newCommand("scorers", "list the scorers of winnow audit, or describe one",
		"winnow audit --scorer NAME chooses a scorer.",
		fromCatalog(func() []audit.Scorer { return audit.Scorers }, findScorer, describeScorer))
}

func findScorer(name string) (audit.Scorer, error) {
	return catalog.Find("audit: scorer", name, audit.Scorers,
		func(s audit.Scorer) []string { return append([]string{s.Name}, s.Aliases...) })
}

func describeScorer(s audit.Scorer) Entry {
	needs := "images or features"
	if s.Kind == audit.ByGiven {
		needs = "--probs FILE"
	}
	scores := "numbers that rank"
	if s.Probability {
		scores = "P(label correct)"
	}
	return Entry{Fields: []Field{{"name", s.Name, true}, {"needs", needs, true}, {"scores", scores, true},
		{"scorer", s.Title, false}, {"what it does", s.Help, true}}}
}

func newArchitecturesCommand() *cli.Command {
	return newCommand("architectures", "list the untrained networks of winnow models new, or describe one",
		"winnow models new NAME --arch ARCHITECTURE makes a network.",
		fromCatalog(architecture.List, architecture.Find, func(n architecture.Network) Entry {
			return Entry{Fields: []Field{{"name", n.Name, true},
				{"images", fmt.Sprintf("%d×%d×%d", n.Channels, n.Side, n.Side), true}, {"features", fmt.Sprint(n.Dim),
					true},
				{"parameters", fmt.Sprint(n.Parameters), true}, {"what", n.About, true}}}
		}))
}

func newRecipesCommand() *cli.Command {
	return newCommand("recipes", "list the papers' settings for winnow train --recipe, or print one", `
A recipe is a configuration; its comments explain what the paper states and what was chosen here. The name of a
paper selects its main recipe (marked *). A recipe's name without the paper works if only one paper has it.

   winnow list recipes prism/mcl-vmf
   winnow train --recipe prism --manifest birds.csv --features birds.features --noise-rate 0.3 --out runs/birds
`, fromCatalog(config.Recipes, config.FindRecipe, describeRecipe))
}

func describeRecipe(r config.Recipe) Entry {
	name := r.Name
	if r.Main() {
		name += " *"
	}
	return Entry{
		Fields: []Field{{"name", name, true}, {"what", r.Title, true}, {"source", r.Source, true},
			{"sha256", r.SHA256(), false}},
		File: r.Text,
	}
}
