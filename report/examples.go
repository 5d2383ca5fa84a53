package report

import (
	"fmt"

	"winnow/datasets/classnames"
	"winnow/report/page"
	"winnow/run/measure"
)

// queryCards returns a card for each query. files maps the path of an image to its encoded thumbnail.
func queryCards(e measure.Examples, names classnames.Names, files map[string][]byte) (list []page.QueryCard) {
	for _, q := range e.Queries {
		query := page.Picture{Data: files[q.Path], Caption: names.Of(q.Label), File: q.Path}
		card := page.QueryCard{Query: query}
		for _, n := range q.Nearest {
			card.Nearest = append(card.Nearest, page.Picture{
				Data: files[n.Path], Caption: names.Of(n.Label),
				Note: fmt.Sprintf("similarity %.3f", n.Similarity), File: n.Path, Good: n.Hit,
			})
		}
		list = append(list, card)
	}
	return list
}
