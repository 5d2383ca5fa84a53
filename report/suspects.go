package report

import (
	"fmt"
	"slices"

	"winnow/audit/suspects"
	"winnow/datasets/glyphs"
	"winnow/report/chart"
	"winnow/report/page"
)

// SuspectCards shows audited images, those at some ranks, with the nearest that support either label.
func SuspectCards(images []suspects.Entry, at []int, picture func(path, caption string) (page.Picture, error)) ([]page.SuspectCard, error) {
	var cards []page.SuspectCard
	for _, i := range at {
		e := images[i]
		card := page.SuspectCard{Given: glyphs.Readable(e.Given), Suggested: glyphs.Readable(e.Suggested), True: glyphs.Readable(e.True), Said: e.Said()}
		if e.GivenProbability != nil {
			card.Said = "chance to be right " + card.Said
		} else if !e.Unjudged {
			card.Said = "score " + card.Said
		}
		var err error
		if card.Picture, err = picture(e.Path, fmt.Sprintf("rank %d", e.Rank)); err != nil {
			return nil, err
		}
		for _, side := range []struct {
			near []suspects.Near
			to   *[]page.Picture
		}{{e.SupportGiven, &card.ForGiven}, {e.SupportSuggested, &card.ForSuggested}} {
			for _, n := range side.near {
				pic, err := picture(n.Path, n.Path)
				if err != nil {
					return nil, err
				}
				*side.to = append(*side.to, pic)
			}
		}
		cards = append(cards, card)
	}
	return cards, nil
}

// calledWrong are those images whose labels are called wrong.
func calledWrong(images []suspects.Entry) (list []suspects.Entry) {
	for _, e := range images {
		if e.Dropped {
			list = append(list, e)
		}
	}
	return list
}

// LabelScores draws the scores of the given labels: right and wrong ones apart where the truth is known.
// The axis ends at 1, or at the highest score where all are small, as those of a scorer that shares 1 among many
// classes; it begins at 0, or at -1 where scores are similarities below 0.
func LabelScores(images []suspects.Entry) chart.Histogram {
	const bins = 25
	var all, right, wrong []float64
	for _, e := range images {
		if e.Unjudged {
			continue
		}
		all = append(all, e.Score)
		switch e.True {
		case "":
		case e.Given:
			right = append(right, e.Score)
		default:
			wrong = append(wrong, e.Score)
		}
	}
	from, end := 0.0, 1.0
	if len(all) > 0 && slices.Min(all) < 0 {
		from = min(-1, slices.Min(all)) // losses may lie anywhere below 0
	}
	if len(all) > 0 && slices.Max(all) < 0.5 && slices.Max(all) > 0 {
		end = slices.Max(all)
	}
	drawing := chart.Histogram{Frame: chart.Frame{Title: "P_clean of the given labels, after training", X: "P_clean (each image left out of its own judgement)", Y: "share of the labels", Percent: true}}
	if len(right)+len(wrong) < len(all) {
		drawing.Bars = []chart.Bars{chart.Count("labels", all, from, end, bins, 0)}
		return drawing
	}
	drawing.Bars = []chart.Bars{chart.Count("right labels", right, from, end, bins, 0), chart.Count("wrong labels", wrong, from, end, bins, 1)}
	return drawing
}
