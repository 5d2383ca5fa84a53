package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"winnow/losses"
)

func lossesCommand() *cli.Command {
	return &cli.Command{
		Name:      "losses",
		Usage:     "list the losses, or say all about one: formula, settings, paper and equation",
		ArgsUsage: "[NAME]",
		Description: "A loss is chosen with winnow train --loss NAME; NAME:bank compares with the memory bank, NAME:0.5 gives it a\n" +
			"weight, and several are added up: --loss multi_similarity --loss proxy_anchor:0.5. Its settings are set with\n" +
			"--set losses.0.settings.NAME=VALUE, counted in the order of the --loss flags.\n\n" +
			"In the formulas s is the cosine of two vectors, d their distance, D its square; i or a is an anchor, P and N its\n" +
			"positives and negatives; [x]₊ is max(x, 0), mean₊ the mean of the terms above 0, R what the reduction says. Five\n" +
			"papers have numbers: 000 Le & Odobez, 001 PRISM, 002 BSPML, 003 Adapted triplet, 004 SCL-RHE.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "as JSON"},
			&cli.BoolFlag{Name: "markdown", Usage: "the list as the table of the README"},
		},
		Action: showLosses,
	}
}

// lossEntry is a loss of the catalog as JSON.
type lossEntry struct {
	Name       string        `json:"name"`
	Aliases    []string      `json:"aliases,omitempty"`
	Title      string        `json:"title"`
	Paper      string        `json:"paper"`
	Equation   string        `json:"equation"`
	Formula    string        `json:"formula"`
	Against    string        `json:"against"` // batch; both: the memory bank too; proxies: vectors of its own
	Parameters bool          `json:"parameters"`
	Weighted   bool          `json:"weighted"` // takes a weight for every sample
	Draws      bool          `json:"draws"`
	Proxies    bool          `json:"proxies"`           // vectors of its own that --filter proxysim may judge by
	Unlabelled bool          `json:"unlabelled"`        // learns from images without a label, too
	Printed    string        `json:"printed,omitempty"` // what --paper-variant changes
	Settings   []lossSetting `json:"settings"`
}

type lossSetting struct {
	Name    string `json:"name"`
	Symbol  string `json:"symbol,omitempty"`
	Default any    `json:"default"`
	Range   string `json:"range"`
	Doc     string `json:"doc"`

	Each map[string]string `json:"each,omitempty"` // what each of the words allowed does
}

func showLosses(c *cli.Context) error {
	if c.Args().Len() > 1 {
		return misused("winnow losses: found %d arguments, expected at most one name", c.Args().Len())
	}
	list := losses.Catalog
	if name := c.Args().First(); name != "" {
		e, err := losses.Find(name)
		if err != nil {
			return asMisuse(err)
		}
		list = []losses.Entry{e}
	}
	switch {
	case c.Bool("json"):
		out := make([]lossEntry, len(list))
		for i, e := range list {
			out[i] = jsonLoss(e)
		}
		if c.Args().Present() {
			return printJSON(c.App.Writer, out[0])
		}
		return printJSON(c.App.Writer, out)
	case c.Bool("markdown"):
		_, err := io.WriteString(c.App.Writer, lossTable(list))
		return err
	case c.Args().Present():
		return writeLoss(c.App.Writer, list[0])
	}
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tLOSS\tCOMPARES WITH\tSOURCE")
	for _, e := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.Name, e.Title, against(e), shortened(source(e.Paper, e.Equation), 70))
	}
	return w.Flush()
}

func jsonLoss(e losses.Entry) lossEntry {
	out := lossEntry{Name: e.Name, Aliases: e.Aliases, Title: e.Title, Paper: e.Paper, Equation: e.Equation, Formula: e.Formula,
		Against: string(e.Against), Parameters: e.Params, Weighted: e.Weighted, Draws: e.Draws, Proxies: e.Proxied, Unlabelled: e.Unlabelled, Printed: e.Printed, Settings: []lossSetting{}}
	for _, s := range e.Settings {
		setting := lossSetting{Name: s.Name, Symbol: s.Symbol, Default: s.Default, Range: s.Range(), Doc: s.Doc}
		for i, doc := range s.Each {
			if i == 0 {
				setting.Each = map[string]string{}
			}
			setting.Each[s.Choices[i]] = doc
		}
		out.Settings = append(out.Settings, setting)
	}
	return out
}

// against says in words what a loss compares a batch with.
func against(e losses.Entry) string {
	switch e.Against {
	case losses.Both:
		return "batch or bank"
	case losses.Proxies:
		return "its own vectors"
	}
	return "batch"
}

// source names papers and what in them; there may be nothing to name.
func source(paper, equation string) string {
	if equation == "" {
		return paper
	}
	return paper + ": " + equation
}

// writeLoss says all about one loss.
func writeLoss(out io.Writer, e losses.Entry) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "name\t%s\n", e.Name)
	if len(e.Aliases) > 0 {
		fmt.Fprintf(w, "also\t%s\n", strings.Join(e.Aliases, ", "))
	}
	fmt.Fprintf(w, "loss\t%s\nformula\t%s\nsource\t%s\ncompares with\t%s\n", e.Title, e.Formula, source(e.Paper, e.Equation), against(e))
	if e.Params {
		fmt.Fprintln(w, "learns\tparameters of its own (loss_solver, loss_schedule)")
	}
	if e.Proxied {
		fmt.Fprintln(w, "filter\tproxysim may judge by its vectors")
	}
	if e.Unlabelled {
		fmt.Fprintln(w, "unlabelled\timages help, too (sampler.unlabelled=N of them in a batch)")
	}
	if e.Weighted {
		fmt.Fprintln(w, "weighs\tevery sample by a weight in [0, 1] that the run sets (1 where it sets none)")
	}
	if e.Draws {
		fmt.Fprintln(w, "draws\tat random where its settings say so, as a function of seed and step")
	}
	if e.Printed != "" {
		fmt.Fprintf(w, "as printed\t%s (--paper-variant)\n", e.Printed)
	}
	if err := w.Flush(); err != nil || len(e.Settings) == 0 {
		return err
	}
	fmt.Fprintln(out)
	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SETTING\tDEFAULT\tRANGE\tMEANING")
	for _, s := range e.Settings {
		name := s.Name
		if s.Symbol != "" {
			name += " " + s.Symbol
		}
		if len(s.Each) == 0 {
			fmt.Fprintf(w, "%s\t%v\t%s\t%s\n", name, s.Default, s.Range(), s.Doc)
			continue
		}
		fmt.Fprintf(w, "%s\t%v\tone of\t%s\n", name, s.Default, s.Doc)
		for i, doc := range s.Each {
			fmt.Fprintf(w, "\t\t- %s\t%s\n", s.Choices[i], doc)
		}
	}
	return w.Flush()
}

// lossTable is the table of the README.
func lossTable(list []losses.Entry) string {
	var b strings.Builder
	b.WriteString("| `--loss` | loss | compares with | source | settings and defaults |\n|---|---|---|---|---|\n")
	for _, e := range list {
		var settings []string
		for _, s := range e.Settings {
			settings = append(settings, fmt.Sprintf("%s %v", s.Name, s.Default))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", e.Name, e.Title, against(e), source(e.Paper, e.Equation), strings.Join(settings, ", "))
	}
	return b.String()
}
