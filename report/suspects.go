package report

import (
	"context"
	"fmt"
	"slices"

	"winnow/audit/suspects"
	"winnow/datasets/classnames"
	"winnow/datasets/location"
	"winnow/internal/text"
	"winnow/report/page"
)

// Side lengths of the thumbnails of suspects and of their supporting images, in pixels.
const (
	faceSide = 240
	nearSide = 96
)

// newSuspectCards returns a card for each suspect in the list; where is the folder or .zip file of the images. A card
// shows the image, and thumbnails of the nearest images that support either label; without pictures, neither.
func newSuspectCards(ctx context.Context, h Host, where location.Source, command string, names classnames.Names,
	list []suspects.Suspect, pictures bool) ([]page.SuspectCard, error) {
	var faces, near []string
	for _, e := range list {
		faces = append(faces, e.Path)
		for _, n := range slices.Concat(e.SupportGiven, e.SupportSuggested) {
			near = append(near, n.Path)
		}
	}
	var large, small map[string][]byte
	if pictures && len(list) > 0 {
		p, err := OpenPictures(ctx, where, command)
		if err != nil {
			return nil, err
		}
		if large, err = p.Files(ctx, h, faces, faceSide); err != nil {
			return nil, err
		}
		if small, err = p.Files(ctx, h, near, nearSide); err != nil {
			return nil, err
		}
	}
	var cards []page.SuspectCard
	for _, e := range list {
		card := page.SuspectCard{
			Given: names.Of(e.Given), Suggested: names.Of(e.Suggested), True: names.Of(e.True),
			Said: e.Said(), Unlike: e.Outlier,
		}
		if e.GivenProbability != nil {
			card.Said += " right"
		} else if !e.Unjudged {
			card.Said = "score " + card.Said
		}
		if e.SuggestedProbability != nil {
			card.SaidSuggested = text.Chance(*e.SuggestedProbability) + " right"
		} else if e.SuggestedScore != nil {
			card.SaidSuggested = "score " + text.Score(*e.SuggestedScore)
		}
		if e.Outlier {
			card.Tags = append(card.Tags, "fits no class")
		}
		if len(e.Copies) > 0 {
			card.Tags = append(card.Tags, "duplicate with another label")
		}
		card.Picture = page.Picture{Data: large[e.Path], Caption: fmt.Sprintf("#%d", e.Rank), File: e.Path}
		for _, side := range []struct {
			near []suspects.Near
			to   *[]page.Picture
		}{{e.SupportGiven, &card.ForGiven}, {e.SupportSuggested, &card.ForSuggested}} {
			for _, n := range side.near {
				*side.to = append(*side.to, page.Picture{Data: small[n.Path], Caption: n.Path, File: n.Path})
			}
		}
		cards = append(cards, card)
	}
	return cards, nil
}
