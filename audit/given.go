package audit

import "winnow/audit/judges"

// Given holds scores of a set's labels that were computed elsewhere, by row.
type Given struct {
	Name string // name of the scorer
	judges.Opinion
	Wrong []bool  // labels to flag if Options.Rate is nil
	Doubt float64 // upper bound of the share of wrong labels, by the scores
}

// fitsLength reports whether the lists have n entries.
func (g *Given) fitsLength(n int) bool {
	return len(g.Score) == n && len(g.Order) == n && len(g.Wrong) == n && len(g.Suggested) == n &&
		len(g.SuggestedScore) == n
}

// selectOpinion returns the opinion on the given rows.
func (g *Given) selectOpinion(rows []int) judges.Opinion {
	return judges.Opinion{Score: pickRows(g.Score, rows), Order: pickRows(g.Order, rows),
		Suggested: pickRows(g.Suggested, rows), SuggestedScore: pickRows(g.SuggestedScore, rows)}
}

// pickRows returns the values at the given rows.
func pickRows[T any](values []T, rows []int) []T {
	out := make([]T, len(rows))
	for i, row := range rows {
		out[i] = values[row]
	}
	return out
}
