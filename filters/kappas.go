package filters

import "winnow/features"

// ClassKappa is vMF-Sim's estimate of the concentration of one class.
type ClassKappa struct {
	Class, Members int
	RBar           float64 // ‖Σv‖/M_k as measured, before corrections
	Kappa          float64 // value used in the scores
}

// Kappas lists the concentrations of the classes that have an estimate of their own, in class order, for the current
// members of the bank. It lists no class if the filter is not vMF-Sim. The estimates are those of the scores and are
// cached for the next call, so Kappas does not change the filter's results. Source: PRISM, eq. 12-13 and Fig. 5.
func (f *Filter) Kappas(dst []ClassKappa, bank *features.Bank) []ClassKappa {
	v, ok := f.scorer.(*VMF)
	if !ok || bank == nil {
		return dst[:0]
	}
	return v.listKappas(dst, bank)
}

// listKappas implements [Filter.Kappas].
func (v *VMF) listKappas(dst []ClassKappa, bank *features.Bank) []ClassKappa {
	v.refreshFits(bank)
	dst = dst[:0]
	for k := range v.fits {
		if f := &v.fits[k]; f.images >= leastImages {
			dst = append(dst, ClassKappa{k, f.members, f.length, f.spread.kappa})
		}
	}
	return dst
}

// Judge returns the catalog name of the scorer used last, or to be used first: AvgSim while it replaces vMF-Sim.
func (f *Filter) Judge() string {
	if f.isEarly {
		return "avgsim"
	}
	return f.entry.Name
}
