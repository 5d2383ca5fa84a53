package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"winnow/papers/recipes"
	"winnow/run/config"
)

func recipesCommand() *cli.Command {
	return &cli.Command{
		Name:  "recipes",
		Usage: "list the five papers' settings, or show one: what winnow train --recipe takes",
		Description: "A recipe is a configuration, with comments that say what the paper states and what was chosen here. A\n" +
			"paper's name alone stands for its main recipe (marked *), and so does a recipe's name that only one paper has.\n\n" +
			"   winnow recipes list\n" +
			"   winnow recipes show prism/mcl-vmf\n" +
			"   winnow train --recipe prism --manifest birds.csv --features birds.features --noise-rate 0.3 --out runs/birds",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the recipes", ArgsUsage: "[PAPER]", Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}}, Action: recipesList},
			{Name: "show", Usage: "print a recipe as it is written", ArgsUsage: "NAME",
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "resolved", Usage: "without comments, with every default filled in"}},
				Action: recipesShow},
		},
	}
}

// listedRecipe is a recipe as JSON.
type listedRecipe struct {
	Name   string `json:"name"`
	Paper  string `json:"paper"` // its folder
	Title  string `json:"title"`
	Source string `json:"source"` // paper, table and row
	Main   bool   `json:"main"`   // the paper's name alone stands for it
	SHA256 string `json:"sha256"`
}

func recipesList(c *cli.Context) error {
	if c.NArg() > 1 {
		return misused("%s: found %d arguments, expected at most the name of a paper's folder", c.Command.HelpName, c.NArg())
	}
	out, papers := []listedRecipe{}, ""
	for _, r := range recipes.List() {
		if paper := c.Args().First(); paper == "" || paper == r.Paper {
			out = append(out, listedRecipe{r.Name, r.Paper, r.Title, r.Source, r.Main(), r.SHA256()})
		}
		if r.Main() {
			papers += " " + r.Paper
		}
	}
	if len(out) == 0 {
		return misused("%s: %q is no paper's folder, expected one of%s", c.Command.HelpName, c.Args().First(), papers)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, out)
	}
	return writeRecipes(c.App.Writer, out)
}

func writeRecipes(out io.Writer, list []listedRecipe) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tWHAT\tPAPER")
	for _, r := range list {
		mark := ""
		if r.Main {
			mark = " *"
		}
		fmt.Fprintf(w, "%s%s\t%s\t%s\n", r.Name, mark, r.Title, r.Source)
	}
	return w.Flush()
}

func recipesShow(c *cli.Context) error {
	if c.NArg() != 1 {
		return misused("%s: found %d arguments, expected one name: winnow recipes list", c.Command.HelpName, c.NArg())
	}
	r, err := recipes.Find(c.Args().First())
	if err != nil {
		return asMisuse(err)
	}
	if !c.Bool("resolved") {
		_, err := io.WriteString(c.App.Writer, r.Text)
		return err
	}
	cfg, err := config.Parse(r.Name, []byte(r.Text), nil)
	if err == nil {
		err = cfg.Validate()
	}
	if err != nil {
		return err
	}
	text, err := config.Marshal(cfg)
	if err == nil {
		_, err = c.App.Writer.Write(text)
	}
	return err
}
