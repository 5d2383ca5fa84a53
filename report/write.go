package report

import (
	"bytes"
	"io"

	"winnow/report/page"
)

// Limit is the most bytes that a page should have, MapLimit of them those of the map.
const (
	Limit    = 10_000_000
	MapLimit = 6 << 20
)

// mapHeading is more than the bytes around the map.
const mapHeading = 4 << 10

// Write makes the page, with a map where drawMap is not nil. The map, whose pictures can be made smaller, gets what
// everything else leaves of the limit: at most so many bytes.
func Write(report page.Report, drawMap func(w io.Writer, most int) error) ([]byte, error) {
	var page bytes.Buffer
	if drawMap != nil {
		if err := report.WriteHTML(&page); err != nil {
			return nil, err
		}
		most := min(MapLimit, Limit-page.Len()-mapHeading)
		report.Map = func(w io.Writer) error { return drawMap(w, most) }
		page.Reset()
	}
	err := report.WriteHTML(&page)
	return page.Bytes(), err
}
