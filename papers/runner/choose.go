package runner

import (
	"slices"
	"strings"

	"winnow/internal/hint"
	"winnow/papers/studies"
	"winnow/run/config"
	"winnow/train"
)

// headRate begins the choices of a rate.
const headRate = "solver.lr="

// scaledRates is the note on choices of whole networks.
const scaledRates = "solver.lr is the head's rate: a choice of it moves the rates of the network and of the loss's " +
	"own parameters by as much."

// readRowConfig returns a row's configuration with the settings asked for and a choice. If the network is trained too,
// a choice of the head's rate scales all rates: those of the network and of the loss's own parameters keep their ratio
// to the head's.
func (r *reproduction) readRowConfig(
	recipe config.Recipe,
	settings []string,
	row studies.Row,
	choice int,
) (config.Run, error) {
	settings = slices.Concat(settings, r.settingsOf(row))
	cfg, err := config.Parse(recipe.Name, []byte(recipe.Text), settings)
	if err == nil && choice > 0 {
		chosen, was := r.Study.Choices(row)[choice-1], cfg.Solver.LR.Value
		cfg, err = config.Parse(recipe.Name, []byte(recipe.Text), slices.Concat(settings, chosen))
		if r.Finetune != "" && choosesRate(chosen) {
			cfg.ResolveWithoutData()
			for _, rate := range []*train.LearningRate{&cfg.BackboneSolver.LR, &cfg.LossSolver.LR} {
				if was > 0 { // 0: this rate is searched for, too
					rate.Value *= cfg.Solver.LR.Value / was
				}
			}
		}
	}
	cfg.ResolveWithoutData() // compare cells at one length
	return cfg, err
}

// choosesRate reports whether the head's rate is one of the settings.
func choosesRate(settings studies.Names) bool {
	return slices.ContainsFunc(settings, func(s string) bool { return strings.HasPrefix(s, headRate) })
}

// checkChoices refuses a setting that is chosen by validation: it would be lost. If the network is trained too, the
// head's rate may be set: the network's rates keep their ratio to it.
func (r *reproduction) checkChoices() error {
	for _, row := range r.Study.Rows {
		for _, s := range r.settingsOf(row) {
			key, _, _ := strings.Cut(s, "=")
			if r.Finetune != "" && key+"=" == headRate {
				continue
			}
			for _, chosen := range r.Study.Choices(row) {
				sets := func(choice string) bool { return strings.HasPrefix(choice, key+"=") }
				if r.isRowWanted(row) && slices.ContainsFunc(chosen, sets) {
					return hint.Misused("setting %s: %s chooses %s of %s by validation: expected no setting of "+
						"it", s, r.Study.Name, key, row.Name)
				}
			}
		}
	}
	return nil
}
