package catalogs

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"winnow/cmd/winnow/page"
	"winnow/losses"
)

// Loss is a loss of the catalog as JSON.
type Loss struct {
	Name       string        `json:"name"`
	Aliases    []string      `json:"aliases,omitempty"`
	Title      string        `json:"title"`
	Paper      string        `json:"paper"`
	Equation   string        `json:"equation"`
	Formula    string        `json:"formula"`
	Against    string        `json:"against"` // batch; both: batch or memory bank; proxies: its own vectors
	Parameters bool          `json:"parameters"`
	Weighted   bool          `json:"weighted"` // takes a weight for every sample
	Draws      bool          `json:"draws"`
	Proxies    bool          `json:"proxies"`           // has vectors that --filter proxysim and sub_center can use
	Unlabelled bool          `json:"unlabelled"`        // also learns from images without a label
	Printed    string        `json:"printed,omitempty"` // what --paper-variant changes
	Settings   []lossSetting `json:"settings"`
}

// lossSetting is a setting of a loss.
type lossSetting struct {
	Name    string `json:"name"`
	Symbol  string `json:"symbol,omitempty"`
	Default any    `json:"default"`
	Range   string `json:"range"`
	Doc     string `json:"doc"`

	Each map[string]string `json:"each,omitempty"` // allowed words and what each does
}

// newLoss describes an entry of the catalog.
func newLoss(e losses.Entry) Loss {
	out := Loss{Name: e.Name, Aliases: e.Aliases, Title: e.Title, Paper: e.Paper, Equation: e.Equation,
		Formula: e.Formula,
		Against: string(e.Against), Parameters: e.Params, Weighted: e.Weighted, Draws: e.Draws, Proxies: e.Proxied,
		Unlabelled: e.Unlabelled, Printed: e.Printed, Settings: []lossSetting{}}
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
func writeLoss(out io.Writer, e losses.Entry) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "name\t%s\n", e.Name)
	if len(e.Aliases) > 0 {
		fmt.Fprintf(w, "also\t%s\n", strings.Join(e.Aliases, ", "))
	}
	fmt.Fprintf(w, "loss\t%s\nformula\t%s\nsource\t%s\ncompares with\t%s\n", e.Title, e.Formula,
		page.Source(e.Paper, e.Equation),
		against(e))
	if e.Params {
		fmt.Fprintln(w, "learns\tits own parameters (loss_solver, loss_schedule)")
	}
	if e.Proxied {
		fmt.Fprintln(w, "filter\tproxysim and sub_center can judge by its vectors")
	}
	if e.Unlabelled {
		fmt.Fprintln(w, "unlabelled\tit also learns from images without a label (sampler.unlabelled=N in a batch)")
	}
	if e.Weighted {
		fmt.Fprintln(w, "weighs\tevery sample by a weight in [0, 1] that the run sets (default: 1)")
	}
	if e.Draws {
		fmt.Fprintln(w, "draws\tat random if its settings say so, as a function of seed and step")
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

// lossTable returns the table in docs.
func lossTable(list []losses.Entry) string {
	var b strings.Builder
	b.WriteString("| `--loss` | loss | compares with | source | settings and defaults |\n|---|---|---|---|---|\n")
	for _, e := range list {
		var settings []string
		for _, s := range e.Settings {
			settings = append(settings, fmt.Sprintf("%s %v", s.Name, s.Default))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", e.Name, e.Title, against(e), page.Source(e.Paper, e.Equation),
			strings.Join(settings, ", "))
	}
	return b.String()
}
