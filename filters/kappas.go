package filters

import "winnow/features"

// ClassKappa is vMF-Sim's estimate of the spread of one class.
type ClassKappa struct {
	Class, Members int
	RBar           float64 // ‖Σv‖/M_k as measured, before corrections
	Kappa          float64 // as used in the scores
}

// Kappas lists the concentrations of the classes that have one of their own, in class order, for the current
// members of the bank; it lists none if the filter is not vMF-Sim. They are estimated as for a score and cached
// for the next one, so calling Kappas does not change what the filter does. Source: PRISM, eq. 12-13 and Fig.
// 5.
func (f *Filter) Kappas(dst []ClassKappa, bank *features.Bank) []ClassKappa {
	v, ok := f.scorer.(*VMF)
	if !ok || bank == nil {
		return dst[:0]
	}
	return v.listKappas(dst, bank)
}

// listKappas lists the concentrations, see [Filter.Kappas].
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

// Judge returns the catalog name of the scorer that judged last, or will judge first: AvgSim while it replaces
// vMF-Sim.
func (f *Filter) Judge() string {
	if f.isEarly {
		return "avgsim"
	}
	return f.entry.Name
}
