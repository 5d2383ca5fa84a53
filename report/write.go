package report

import (
	"bytes"
	"io"

	"winnow/report/page"
)

// Limit is the largest size of a page in bytes; mapLimit is the largest size of the map in it.
const (
	Limit    = 10_000_000
	mapLimit = 6 << 20
)

// mapHeading is an upper bound for the bytes around the map.
const mapHeading = 4 << 10

// Write returns the page, with a map if drawMap is not nil. The map, whose pictures can be compressed, gets
// what everything else leaves of the limit, as its argument most.
func Write(report page.Report, drawMap func(w io.Writer, most int) error) ([]byte, error) {
	var page bytes.Buffer
	if drawMap != nil {
		if err := report.WriteHTML(&page); err != nil {
			return nil, err
		}
		most := min(mapLimit, Limit-page.Len()-mapHeading)
		report.Map = func(w io.Writer) error { return drawMap(w, most) }
		page.Reset()
	}
	err := report.WriteHTML(&page)
	return page.Bytes(), err
}
