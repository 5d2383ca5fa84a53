package catalogs

import (
	"io"

	"winnow/run/config"
	"winnow/run/recipes"
)

var recipeCatalog = catalog[recipes.Recipe]{
	name:  "recipes",
	usage: "list the papers' settings for winnow train --recipe, or print one",
	description: `
A recipe is a configuration with comments that say what the paper states and what was chosen here. A paper's
name alone stands for its main recipe (marked *), and so does a recipe's name that only one paper has.

   winnow recipes prism/mcl-vmf
   winnow train --recipe prism --manifest birds.csv --features birds.features --noise-rate 0.3 --out runs/birds
`,
	all:      recipes.List,
	find:     recipes.Find,
	resolves: true,
	head:     []string{"NAME", "WHAT", "SOURCE"},
	row: func(r recipes.Recipe) []string {
		name := r.Name
		if r.Main() {
			name += " *"
		}
		return []string{name, r.Title, r.Source}
	},
	json: func(r recipes.Recipe) any {
		return Recipe{r.Name, r.Paper, r.Title, r.Source, r.Main(), r.SHA256()}
	},
	markdown: func(list []recipes.Recipe) [][]string {
		rows := [][]string{{"`--recipe`", "what", "source"}}
		for _, r := range list {
			rows = append(rows, []string{"`" + r.Name + "`", r.Title, r.Source})
		}
		return rows
	},
	describe: writeRecipe,
}

// Recipe is a recipe as JSON.
type Recipe struct {
	Name   string `json:"name"`
	Paper  string `json:"paper"` // its folder
	Title  string `json:"title"`
	Source string `json:"source"` // paper, table and row
	Main   bool   `json:"main"`   // the paper's name alone means this recipe
	SHA256 string `json:"sha256"`
}

// writeRecipe prints the file of a recipe.
func writeRecipe(out io.Writer, r recipes.Recipe, o Options) error {
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
	_, err := out.Write(text)
	return err
}
