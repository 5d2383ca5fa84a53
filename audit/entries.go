package audit

import (
	"cmp"
	"math"

	"winnow/audit/suspects"
	"winnow/eval"
)

// Entries returns the suspects as lines of the list on disk, most suspect first. paths are by row of the set, classes by label.
func (r *Result) Entries(paths, classes []string) []suspects.Entry {
	list := make([]suspects.Entry, len(r.Suspects))
	certain, probable := Probability(r.Scorer), Probability(cmp.Or(r.Suggests, r.Scorer))
	near := func(list []eval.Neighbour) []suspects.Near {
		out := make([]suspects.Near, len(list))
		for i, n := range list {
			out[i] = suspects.Near{Path: paths[n.Row], Similarity: cosine(n.Similarity)}
		}
		return out
	}
	for i := range r.Suspects {
		s := &r.Suspects[i]
		e := suspects.Entry{
			Rank: i + 1, Path: paths[s.Row], Given: classes[s.Given], Suggested: classes[s.Suggested],
			Score: s.Score, SuggestedScore: &s.SuggestedScore, Dropped: s.Wrong,
			SupportGiven: near(s.SupportGiven), SupportSuggested: near(s.SupportSuggested), Outlier: s.Outlier(), Copies: []suspects.Copy{},
			Unjudged: s.Alone && r.Unjudged > 0,
		}
		if certain && !e.Unjudged {
			e.GivenProbability = &s.Score
		}
		if probable && !s.Alone {
			e.SuggestedProbability = e.SuggestedScore
		}
		if !math.IsNaN(s.Fit) {
			e.Fit = &s.Fit
		}
		for _, n := range s.Copies {
			e.Copies = append(e.Copies, suspects.Copy{Path: paths[n.Row], Label: classes[r.labels[n.Row]], Similarity: cosine(n.Similarity)})
		}
		list[i] = e
	}
	return list
}

// cosine returns a similarity with the digits that a float32 has.
func cosine(v float32) float64 { return math.Round(float64(v)*1e6) / 1e6 }
