package runner

import (
	"fmt"
	"slices"
	"strings"

	"winnow/internal/hint"
	"winnow/papers/studies"
	"winnow/run/config"
)

// readRowConfig returns a row's configuration with the given settings and a choice.
func (r *reproduction) readRowConfig(
	recipe config.Recipe,
	settings []string,
	row studies.Row,
	choice int,
) (config.Run, error) {
	settings = slices.Concat(settings, r.settingsOf(row))
	if choice > 0 {
		settings = append(settings, r.Study.Choices(row)[choice-1]...)
	}
	cfg, err := config.Parse(recipe.Name, []byte(recipe.Text), settings)
	cfg.ResolveWithoutData() // all cells then have the same length
	return cfg, err
}

// checkChoices returns an error for a given setting that the study chooses by validation, because the choice would
// replace it. It also rejects training whole networks in a study that chooses learning rates of heads.
func (r *reproduction) checkChoices() error {
	for _, row := range r.Study.Rows {
		for _, chosen := range r.Study.Choices(row) {
			for _, choice := range chosen {
				key, _, _ := strings.Cut(choice, "=")
				switch sets := func(s string) bool { return strings.HasPrefix(s, key+"=") }; {
				case !r.isRowWanted(row):
				case slices.ContainsFunc(r.settingsOf(row), sets):
					return hint.Misused("setting %s: %s chooses it for %s by validation: leave the setting out",
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

// weightsKey is the start of the setting for the trained part of a backbone.
const weightsKey = "finetune.weights="

// Finetunes reports whether a study has its own settings for the part of the network that its rows train.
func Finetunes(s *studies.Study) bool {
	says := func(set []string) bool {
		return slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, weightsKey) })
	}
	return says(s.Set) || slices.ContainsFunc(s.Rows, func(row studies.Row) bool { return says(row.Set) })
}

// listFinetune returns the setting that Options.Finetune adds to a row.
func (o *Options) listFinetune(row studies.Row) []string {
	if o.Finetune == "" || row.Recipe == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s%q", weightsKey, o.Finetune)}
}
