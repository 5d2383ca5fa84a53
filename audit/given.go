package audit

import (
	"math"

	"winnow/features"
)

// Given are scores of a set's labels from elsewhere, by row.
type Given struct {
	Name   string    // of the scorer
	Scores []float64 // higher: cleaner
	Orders []float64 // rank the rows, the lowest most suspect, and settle what scores leave equal
	Wrong  []bool    // called wrong where Options.Rate is nil; nil: as many as estimated

	Suggested       []int     // the class that fits best; nil: the scorer suggests
	SuggestedScores []float64 // of that class
}

// list returns the labelled rows as the given scores have them, counted among themselves.
func (g *Given) list(labels []int) []Suspect {
	var list []Suspect
	for row, y := range labels {
		if y != features.Unlabelled {
			list = append(list, Suspect{Row: len(list), Given: y, Suggested: g.Suggested[row], SuggestedScore: g.SuggestedScores[row], Fit: math.NaN()})
		}
	}
	rejudge(list, labelled(labels), g)
	return list
}

// rejudge puts scores from elsewhere in place of the scorer's; suggestions and their scores stay.
func rejudge(list []Suspect, rows []int, g *Given) {
	for i := range list {
		row := rows[list[i].Row]
		list[i].Score, list[i].Order, list[i].Wrong = g.Scores[row], g.Orders[row], g.Wrong != nil && g.Wrong[row]
	}
}
