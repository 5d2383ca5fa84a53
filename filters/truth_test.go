package filters

import (
	"testing"

	"winnow/features"
)

// On clusters with 40 % wrong labels, each of PRISM's scorers keeps far more right rows than the 60 % expected by
// chance, batch after batch. An audit of all rows ranks the wrong labels last.
func TestFilterFindsWrongLabels(t *testing.T) {
	for _, entry := range Catalog {
		share, detection := 0.9, 0.95
		switch entry.Name {
		case "memory_positive":
			detection = 0.93
		case "batch_positive": // PRISM's weakest variant: uses few rows, nearly half of them wrong
			share, detection = 0.7, 0.93
		}
		for seed := uint64(1); seed <= 4; seed++ {
			s := newStream(seed, 32, 10, 0.6)
			f := mustNew(t, s.world, func(c *Config) {
				c.Scorer, c.Rate, c.Window, c.AvgSimSteps = entry.Name, 0.4, 10, 10
			})
			bank := features.NewBank(600, 32, 10)
			var kept, right int
			for i := range 60 {
				z, truth := s.batch(40, 0.4)
				rows, _ := f.Keep(z, bank)
				bank.Push(z.Rows(rows))
				if i < 30 {
					continue
				}
				for _, row := range rows {
					kept++
					if truth[row] {
						right++
					}
				}
			}
			if got := float64(right) / float64(kept); got < share {
				t.Errorf("%s, seed %d: %.3f of the kept rows are right, expected %.2f", entry.Name, seed, got, share)
			}
			if kept < 30*40*45/100 || kept > 30*40*75/100 {
				t.Errorf("%s, seed %d: kept %d of %d", entry.Name, seed, kept, 30*40)
			}
			z, truth := s.batch(600, 0.4)
			audit := features.BankOf(z, 10)
			if a := auroc(f.Scorer().Score(nil, z, audit, true), truth); a < detection {
				t.Errorf("%s, seed %d: AUROC of an audit %.3f, expected %.2f", entry.Name, seed, a, detection)
			}
			if ranker, ok := f.Scorer().(Ranker); ok {
				if a := auroc(ranker.LogOdds(nil, z, audit, true), truth); a < detection {
					t.Errorf("%s, seed %d: AUROC of log odds %.3f, expected %.2f", entry.Name, seed,
						a, detection)
				}
			}
		}
	}
}
