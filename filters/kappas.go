package filters

import "winnow/features"

// ClassKappa is what vMF-Sim takes the spread of one class to be.
type ClassKappa struct {
	Class, Members int
	RBar           float64 // ‖Σv‖/M_k as measured, before any correction
	Kappa          float64 // as it enters the scores
}

// Kappas lists the concentrations of the classes that have one of their own, in the order of the classes, by the
// members that the bank has now; none where the filter is not vMF-Sim. They are estimated as for a score and kept
// for the next one: asking changes nothing of what the filter does. Source: PRISM, eq. 12-13 and Fig. 5.
func (f *Filter) Kappas(dst []ClassKappa, bank *features.Bank) []ClassKappa {
	v, ok := f.scorer.(*VMF)
	if !ok || bank == nil {
		return dst[:0]
	}
	return v.Kappas(dst, bank)
}

// Kappas lists the concentrations as [Filter.Kappas] does.
func (v *VMF) Kappas(dst []ClassKappa, bank *features.Bank) []ClassKappa {
	v.refresh(bank)
	dst = dst[:0]
	for k := range v.fits {
		if f := &v.fits[k]; f.images >= v.least() {
			dst = append(dst, ClassKappa{k, f.members, f.length, f.spread.kappa})
		}
	}
	return dst
}

// Judge names the scorer of the catalog that judged last, or that will judge first: AvgSim as long as it stands in
// for vMF-Sim.
func (f *Filter) Judge() string {
	if f.isEarly {
		return "avgsim"
	}
	return f.entry.Name
}
