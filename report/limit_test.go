package report

import (
	"bytes"
	"fmt"
	"image"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"winnow/report/atlas"
	"winnow/report/page"
)

// Ten thousand images on the map, and the most suspects and queries, all with the worst pictures, noise, stay
// within the page's limit.
func TestReportLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("compresses ten million pixels several times")
	}
	draw := rand.New(rand.NewPCG(3, 3))
	noise := func(side int) image.Image {
		img := image.NewNRGBA(image.Rect(0, 0, side, side))
		for k := range img.Pix {
			img.Pix[k] = uint8(draw.Uint32()) | 0xff*uint8(k%4/3)
		}
		return img
	}
	m, pictures := atlas.Map{Groups: []string{"a class with a long name", "another class with a long name"}},
		make([]image.Image, 10_000)
	for i := range pictures {
		m.Points = append(m.Points, atlas.Point{X: draw.NormFloat64(), Y: draw.NormFloat64(), Group: i % 2,
			Path: fmt.Sprintf("a folder/of some depth/with an image %d.jpg", i), Label: m.Groups[i%2]})
		pictures[i] = noise(atlas.ThumbnailSide(len(pictures)))
	}
	picture := func() page.Picture {
		data, err := encodePicture(noise(shownSide))
		if err != nil {
			t.Fatal(err)
		}
		return page.Picture{Data: data, Caption: "a class with a long name",
			File: "a folder/of some depth/with an image.jpg"}
	}
	content := page.Report{Map: func(w io.Writer) error { return m.WritePart(w, pictures, mapLimit) }}
	for range shownSuspects {
		content.Suspects = append(content.Suspects,
			page.SuspectCard{Picture: picture(), Given: "a", Suggested: "b",
				ForGiven: []page.Picture{picture(), picture(), picture()}, ForSuggested: []page.Picture{picture(),
					picture(), picture()}})
	}
	for range shownQueries {
		card := page.QueryCard{Query: picture()}
		for range shownNearest {
			card.Nearest = append(card.Nearest, picture())
		}
		content.Queries = append(content.Queries, card)
	}
	var page bytes.Buffer
	if err := content.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	const rest = 400 << 10 // for charts and tables
	if page.Len() > Limit-rest || !strings.Contains(page.String(), "10000, at most 32 pixels wide") {
		t.Errorf("%d bytes, expected at most %d, with pictures on the map", page.Len(), Limit-rest)
	}
}
