package runner

import (
	"slices"
	"strings"

	"winnow/internal/hint"
	"winnow/papers/studies"
	"winnow/run/config"
	"winnow/run/recipes"
	"winnow/train"
)

// headRate begins the choices of a rate.
const headRate = "solver.lr="

// scaledRates is the note on choices of whole networks.
const scaledRates = "solver.lr is the head's rate: a choice of it moves the rates of the network and of the loss's " +
	"own parameters by as much."

// read returns a row's configuration with --set and the choice that a training is made with. Where the network
// is trained too, a choice of the head's rate is one of all rates: those of the network and of the loss's own
// parameters keep the ratio to the head's that the recipe and --set have.
func (r *reproduction) read(recipe recipes.Recipe, settings []string, row studies.Row, choice int) (config.Run, error) {
	settings = slices.Concat(settings, r.settingsOf(row))
	cfg, err := config.Parse(recipe.Name, []byte(recipe.Text), settings)
	if err == nil && choice > 0 {
		chosen, was := r.Study.Choices(row)[choice-1], cfg.Solver.LR.Value
		cfg, err = config.Parse(recipe.Name, []byte(recipe.Text), slices.Concat(settings, chosen))
		if r.Finetune != "" && choosesRate(chosen) {
			cfg.ResolveWithoutData()
			for _, rate := range []*train.LearningRate{&cfg.BackboneSolver.LR, &cfg.LossSolver.LR} {
				if was > 0 { // 0 is one that is to be found, too
					rate.Value *= cfg.Solver.LR.Value / was
				}
			}
		}
	}
	cfg.ResolveWithoutData() // cells are compared at one length
	return cfg, err
}

// choosesRate reports whether the head's rate is one of the settings.
func choosesRate(settings studies.Names) bool {
	return slices.ContainsFunc(settings, func(s string) bool { return strings.HasPrefix(s, headRate) })
}

// checkChoices refuses a --set for what is chosen by validation: it would be lost. Where the network is trained
// too, rates say how it learns beside the head.
func (r *reproduction) checkChoices() error {
	for _, row := range r.Study.Rows {
		for _, s := range r.settingsOf(row) {
			key, _, _ := strings.Cut(s, "=")
			if r.Finetune != "" && key+"=" == headRate {
				continue
			}
			for _, chosen := range r.Study.Choices(row) {
				if r.wanted(row) && slices.ContainsFunc(chosen, func(c string) bool { return strings.HasPrefix(c, key+"=") }) {
					return hint.Misused("--set %s: %s chooses %s of %s by validation: expected no setting of "+
						"it", s, r.Study.Name, key, row.Name)
				}
			}
		}
	}
	return nil
}
