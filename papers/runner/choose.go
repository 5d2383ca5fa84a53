package runner

import (
	"fmt"
	"slices"
	"strings"

	"winnow/internal/hint"
	"winnow/papers/studies"
	"winnow/run/config"
	"winnow/run/recipes"
)

// readRowConfig returns a row's configuration with the settings asked for and a choice.
func (r *reproduction) readRowConfig(
	recipe recipes.Recipe,
	settings []string,
	row studies.Row,
	choice int,
) (config.Run, error) {
	settings = slices.Concat(settings, r.settingsOf(row))
	if choice > 0 {
		settings = append(settings, r.Study.Choices(row)[choice-1]...)
	}
	cfg, err := config.Parse(recipe.Name, []byte(recipe.Text), settings)
	cfg.ResolveWithoutData() // compare cells at one length
	return cfg, err
}

// checkChoices refuses a setting that is chosen by validation, since it would be lost, and whole networks in a study
// whose choices are rates of heads.
func (r *reproduction) checkChoices() error {
	for _, row := range r.Study.Rows {
		for _, chosen := range r.Study.Choices(row) {
			for _, choice := range chosen {
				key, _, _ := strings.Cut(choice, "=")
				switch sets := func(s string) bool { return strings.HasPrefix(s, key+"=") }; {
				case !r.isRowWanted(row):
				case slices.ContainsFunc(r.settingsOf(row), sets):
					return hint.Misused("setting %s: %s chooses it for %s by validation: expected no setting of it",
						key, r.Study.Name, row.Name)
				case r.Finetune != "":
					return hint.Misused("%s chooses %s of heads by validation: expected no whole networks",
						r.Study.Name, key)
				}
			}
		}
	}
	return nil
}

// weightsKey begins the setting that says which part of a backbone is trained.
const weightsKey = "finetune.weights="

// Finetunes reports whether a study says itself which part of the network its rows train.
func Finetunes(s *studies.Study) bool {
	says := func(set []string) bool {
		return slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, weightsKey) })
	}
	return says(s.Set) || slices.ContainsFunc(s.Rows, func(row studies.Row) bool { return says(row.Set) })
}

// listFinetune returns the setting that Finetune gives a row.
func (o *Options) listFinetune(row studies.Row) []string {
	if o.Finetune == "" || row.Recipe == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s%q", weightsKey, o.Finetune)}
}
