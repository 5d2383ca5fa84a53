package report

import (
	"context"
	"fmt"
	"slices"

	"winnow/audit/suspects"
	"winnow/datasets/classnames"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/text"
	"winnow/report/page"
)

// SuspectCards returns cards of the audited images at these positions, with the nearest images that support
// either label.
func SuspectCards(images []suspects.Suspect, at []int, names classnames.Names,
	picture func(path, caption string) (page.Picture, error)) ([]page.SuspectCard, error) {
	var cards []page.SuspectCard
	for _, i := range at {
		e := images[i]
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
			card.Tags = append(card.Tags, "copy with another label")
		}
		var err error
		if card.Picture, err = picture(e.Path, fmt.Sprintf("#%d", e.Rank)); err != nil {
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

// Sizes of the pictures of suspects and of their supporting images, in pixels.
const (
	faceSide = 240
	nearSide = 96
)

// newSuspectCards returns cards of audited images in a folder or .zip file: each in a large picture, with the nearest
// images that support either label in small ones.
func newSuspectCards(ctx context.Context, h Host, where location.Source, command string,
	names classnames.Names, list []suspects.Suspect) ([]page.SuspectCard, error) {
	var faces, near []string
	for _, e := range list {
		faces = append(faces, e.Path)
		for _, n := range slices.Concat(e.SupportGiven, e.SupportSuggested) {
			near = append(near, n.Path)
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	p, err := OpenPictures(ctx, where, command)
	if err != nil {
		return nil, err
	}
	large, err := p.Files(ctx, h, faces, faceSide)
	if err != nil {
		return nil, err
	}
	small, err := p.Files(ctx, h, near, nearSide)
	if err != nil {
		return nil, err
	}
	cards, err := SuspectCards(list, features.AllRows(len(list)), names,
		func(path, caption string) (page.Picture, error) {
			return page.Picture{Data: small[path], Caption: caption, File: path}, nil
		})
	for i := range cards {
		cards[i].Picture.Data = large[list[i].Path]
	}
	return cards, err
}
