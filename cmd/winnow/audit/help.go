package audit

import (
	_ "embed"
	"fmt"
	"strings"

	"winnow/audit"
	"winnow/audit/judges"
)

//go:embed help.txt
var helpText string

// auditHelp returns the command's description, with the catalog of scorers filled in.
func auditHelp() string {
	var table, probability, ranking []string
	for _, name := range audit.Names() {
		s := audit.Named(name)
		table = append(table, fmt.Sprintf("   %-15s  %s", name, s.Help))
		if s.Probability {
			probability = append(probability, name)
		} else {
			ranking = append(ranking, name)
		}
	}
	return strings.NewReplacer("{{default}}", judges.Default, "{{scorers}}", strings.Join(table, "\n"),
		"{{probability}}", strings.Join(probability, ", "), "{{ranking}}",
		strings.Join(ranking, ", ")).Replace(helpText)
}
