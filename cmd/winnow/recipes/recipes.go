// Package recipes is winnow recipes.
package recipes

import (
	"context"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/internal/text"
	"winnow/run/config"
	"winnow/run/recipes"
)

// ListOptions are the options of winnow recipes list.
type ListOptions struct {
	Paper string // its folder; "": all
	JSON  bool
}

// ShowOptions are the options of winnow recipes show.
type ShowOptions struct {
	Name     string
	Resolved bool
}

// Command is winnow recipes.
func Command() *cli.Command { return command(list, show) }

const description = `
A recipe is a configuration with comments that say what the paper states and what was chosen here. A paper's
name alone stands for its main recipe (marked *), and so does a recipe's name that only one paper has.

   winnow recipes list
   winnow recipes show prism/mcl-vmf
   winnow train --recipe prism --manifest birds.csv --features birds.features --noise-rate 0.3 --out runs/birds
`

func command(list term.Call[ListOptions], show term.Call[ShowOptions]) *cli.Command {
	return &cli.Command{
		Name:        "recipes",
		Usage:       "list or show the papers' settings, for winnow train --recipe",
		Description: description,
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the recipes", ArgsUsage: "[PAPER]",
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
				Action: term.Action(readList, list),
			},
			{
				Name: "show", Usage: "print a recipe", ArgsUsage: "NAME",
				Flags: []cli.Flag{
					&cli.BoolFlag{Name: "resolved", Usage: "without comments, with every default filled in"},
				},
				Action: term.Action(readShow, show),
			},
		},
	}
}

// Listed is a recipe as JSON.
type Listed struct {
	Name   string `json:"name"`
	Paper  string `json:"paper"` // its folder
	Title  string `json:"title"`
	Source string `json:"source"` // paper, table and row
	Main   bool   `json:"main"`   // the paper's name alone means this recipe
	SHA256 string `json:"sha256"`
}

func readList(c *cli.Context) (ListOptions, error) {
	if c.NArg() > 1 {
		return ListOptions{}, term.Misused("%s: found %d arguments, expected at most the name of a paper's folder",
			c.Command.HelpName, c.NArg())
	}
	return ListOptions{c.Args().First(), c.Bool("json")}, nil
}

func list(_ context.Context, p *term.Program, o ListOptions) error {
	out, papers := []Listed{}, ""
	for _, r := range recipes.List() {
		if o.Paper == "" || o.Paper == r.Paper {
			out = append(out, Listed{r.Name, r.Paper, r.Title, r.Source, r.Main(), r.SHA256()})
		}
		if r.Main() {
			papers += " " + r.Paper
		}
	}
	if len(out) == 0 {
		return term.Misused("winnow %s: %q is not the folder of a paper, expected one of%s", p.Command, o.Paper, papers)
	}
	if o.JSON {
		return p.JSON(out)
	}
	w := text.NewTable(p.Out)
	w.Row("NAME", "WHAT", "PAPER")
	for _, r := range out {
		name := r.Name
		if r.Main {
			name += " *"
		}
		w.Row(name, r.Title, r.Source)
	}
	return w.Flush()
}

func readShow(c *cli.Context) (ShowOptions, error) {
	if c.NArg() != 1 {
		return ShowOptions{}, term.Misused("%s: found %d arguments, expected one name: winnow recipes list",
			c.Command.HelpName, c.NArg())
	}
	return ShowOptions{c.Args().First(), c.Bool("resolved")}, nil
}

func show(_ context.Context, p *term.Program, o ShowOptions) error {
	r, err := recipes.Find(o.Name)
	if err != nil {
		return term.AsMisuse(err)
	}
	text := []byte(r.Text)
	if o.Resolved {
		cfg, err := config.Parse(r.Name, text, nil)
		if err == nil {
			err = cfg.Validate()
		}
		if err != nil {
			return err
		}
		if text, err = config.Marshal(cfg); err != nil {
			return err
		}
	}
	_, err = p.Data.Write(text)
	return err
}
