package catalogs

import (
	"io"
	"strings"

	"winnow/cmd/winnow/page"
	"winnow/internal/text"
	"winnow/losses"
)

var lossCatalog = catalog[losses.Entry]{
	name:  "losses",
	usage: "list the losses, or describe one: formula, settings, paper and equation",
	description: "winnow train --loss NAME chooses a loss. NAME:bank compares with the memory bank,\n" +
		"NAME:0.5 has a weight, and several losses are added: --loss multi_similarity --loss\n" +
		"proxy_anchor:0.5. Its settings are set by --set losses.0.settings.NAME=VALUE, numbered in the\n" +
		"order of the --loss flags.\n\n" +
		"In the formulas s is the cosine of two vectors, d their distance, D its square; i or a is an anchor,\n" +
		"P and N are its positives and negatives; [x]₊ is max(x, 0), mean₊ the mean of the terms above 0, R the\n" +
		"reduction. Five papers have numbers: 000 Le & Odobez, 001 PRISM, 002 BSPML, 003 Adapted triplet,\n" +
		"004 SCL-RHE.",
	all:  func() []losses.Entry { return losses.Catalog },
	find: losses.Find,
	head: []string{"NAME", "LOSS", "COMPARES WITH", "SOURCE"},
	row: func(e losses.Entry) []string {
		return []string{e.Name, e.Title, against(e), page.Source(e.Paper, e.Equation)}
	},
	json: func(e losses.Entry) any { return newLoss(e) },
	markdown: func(list []losses.Entry) [][]string {
		rows := [][]string{{"`--loss`", "loss", "compares with", "source", "settings and defaults"}}
		for _, e := range list {
			rows = append(rows, []string{"`" + e.Name + "`", e.Title, against(e), page.Source(e.Paper, e.Equation),
				defaults(newSettings(e.Settings))})
		}
		return rows
	},
	describe: writeLoss,
}

// Loss is a loss of the catalog as JSON.
type Loss struct {
	Name       string    `json:"name"`
	Aliases    []string  `json:"aliases,omitempty"`
	Title      string    `json:"title"`
	Paper      string    `json:"paper"`
	Equation   string    `json:"equation"`
	Formula    string    `json:"formula"`
	Against    string    `json:"against"` // batch; both: batch or memory bank; proxies: its own vectors
	Parameters bool      `json:"parameters"`
	Weighted   bool      `json:"weighted"` // takes a weight for every sample
	Draws      bool      `json:"draws"`
	Proxies    bool      `json:"proxies"`           // has vectors that --filter proxysim and sub_center can use
	Unlabelled bool      `json:"unlabelled"`        // also learns from images without a label
	Printed    string    `json:"printed,omitempty"` // what --paper-variant changes
	Settings   []Setting `json:"settings"`
}

// newLoss describes an entry of the catalog.
func newLoss(e losses.Entry) Loss {
	return Loss{Name: e.Name, Aliases: e.Aliases, Title: e.Title, Paper: e.Paper, Equation: e.Equation,
		Formula: e.Formula, Against: string(e.Against), Parameters: e.Params, Weighted: e.Weighted, Draws: e.Draws,
		Proxies: e.Proxied, Unlabelled: e.Unlabelled, Printed: e.Printed, Settings: newSettings(e.Settings)}
}

// against says what a loss compares a batch with.
func against(e losses.Entry) string {
	switch e.Against {
	case losses.Both:
		return "batch or bank"
	case losses.Proxies:
		return "its own vectors"
	}
	return "batch"
}

// writeLoss describes a loss for people.
func writeLoss(out io.Writer, e losses.Entry, _ Options) error {
	w := text.NewTable(out)
	w.Row("name", e.Name)
	if len(e.Aliases) > 0 {
		w.Row("also", strings.Join(e.Aliases, ", "))
	}
	w.Row("loss", e.Title)
	w.Row("formula", e.Formula)
	w.Row("source", page.Source(e.Paper, e.Equation))
	w.Row("compares with", against(e))
	for _, line := range []struct {
		is        bool
		name, say string
	}{
		{e.Params, "learns", "its own parameters (loss_solver, loss_schedule)"},
		{e.Proxied, "filter", "proxysim and sub_center can judge by its vectors"},
		{e.Unlabelled, "unlabelled", "it also learns from images without a label (sampler.unlabelled=N in a batch)"},
		{e.Weighted, "weighs", "every sample by a weight in [0, 1] that the run sets (default: 1)"},
		{e.Draws, "draws", "at random if its settings say so, as a function of seed and step"},
		{e.Printed != "", "as printed", e.Printed + " (--paper-variant)"},
	} {
		if line.is {
			w.Row(line.name, line.say)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return writeSettings(out, e.Settings)
}
