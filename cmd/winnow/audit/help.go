package audit

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"winnow/audit"
	"winnow/audit/judges"
	"winnow/filters"
	"winnow/run/auditing"
	"winnow/train/samples"
)

//go:embed help.txt
var helpText string

// help returns the command's description, with the catalogs filled in.
func help() string {
	var probability, ranking []string
	for _, name := range auditing.Scorers() {
		if audit.Probability(name) {
			probability = append(probability, name)
		} else {
			ranking = append(ranking, name)
		}
	}
	return strings.NewReplacer("{{default}}", judges.Default, "{{scorers}}", strings.TrimRight(scorerTable(), "\n"),
		"{{probability}}", strings.Join(probability, ", "), "{{ranking}}", strings.Join(ranking, ", ")).Replace(helpText)
}

// scorerTable lists all scorers, a line each.
func scorerTable() string {
	var out strings.Builder
	row := func(name, text string) { fmt.Fprintf(&out, "   %-15s  %s\n", name, text) }
	for _, j := range judges.Catalog {
		row(j.Name, j.Help)
	}
	row(audit.Crossfit, "heads trained on the spot, each on the labels of the other folds that look right; minutes, without a run")
	for _, e := range filters.Catalog {
		if slices.Contains(audit.BankScorers(), e.Name) {
			row(e.Name, fmt.Sprintf("%s of %s, eq. %s", e.Title, e.Paper, e.Equation))
		}
	}
	row(auditing.SelfPaced, "the final weights of a run that weighted its samples")
	for _, name := range samples.Rankings {
		row(name, auditing.Meanings[name])
	}
	return out.String()
}
