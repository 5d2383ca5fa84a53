package audit

import "winnow/audit/judges"

// Given holds scores of a set's labels from elsewhere, by row.
type Given struct {
	Name           string  // of the scorer
	judges.Opinion         // Suggested nil: the scorer suggests
	Wrong          []bool  // labels called wrong if Options.Rate is nil; nil: as many as estimated
	Doubt          float64 // the largest share of wrong labels that the scores leave open; 0: unknown
}

// fitsLength reports whether the lists have n entries.
func (g *Given) fitsLength(n int) bool {
	return len(g.Score) == n && len(g.Order) == n && (g.Wrong == nil || len(g.Wrong) == n) &&
		len(g.Suggested) == len(g.SuggestedScore) && (g.Suggested == nil || len(g.Suggested) == n)
}

// selectOpinion returns the opinion on rows, with the suggestions of by if g has none.
func (g *Given) selectOpinion(rows []int, by judges.Opinion) judges.Opinion {
	by.Score, by.Order = pickRows(g.Score, rows), pickRows(g.Order, rows)
	if g.Suggested != nil {
		by.Suggested, by.SuggestedScore = pickRows(g.Suggested, rows), pickRows(g.SuggestedScore, rows)
	}
	return by
}

// pickRows returns the values at some rows.
func pickRows[T any](values []T, rows []int) []T {
	out := make([]T, len(rows))
	for i, row := range rows {
		out[i] = values[row]
	}
	return out
}
