package datasets

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Crop is a rectangle of a picture in pixels, from its upper left corner: of the picture as people see it, turned as EXIF says.
type Crop struct{ X, Y, W, H int }

// cropMark stands between a file and its crop, as W3C's media fragments have it.
const cropMark = "#xywh="

// mostMargin is the largest margin of a crop, in sides of its box.
const mostMargin = 10

// mostPixels is the longest side that a crop may have.
const mostPixels = 1 << 24

// CutCrop takes the path of a crop apart: FILE#xywh=X,Y,W,H, perhaps with &id=NAME behind, which tells crops of the same
// rectangle apart. Any other path is a file's, and its picture is whole.
func CutCrop(path string) (file string, c Crop, cropped bool) {
	at := strings.LastIndex(path, cropMark)
	if at < 1 {
		return path, c, false
	}
	numbers, id, named := strings.Cut(path[at+len(cropMark):], "&id=")
	fields := strings.Split(numbers, ",")
	if len(fields) != 4 || named && (id == "" || strings.ContainsAny(id, "&#/")) {
		return path, Crop{}, false
	}
	for i, to := range []*int{&c.X, &c.Y, &c.W, &c.H} {
		n, err := strconv.Atoi(fields[i])
		if err != nil || n < 0 || n > mostPixels || strconv.Itoa(n) != fields[i] {
			return path, Crop{}, false
		}
		*to = n
	}
	if c.W == 0 || c.H == 0 {
		return path, Crop{}, false
	}
	return path[:at], c, true
}

// String returns what follows the file in a path.
func (c Crop) String() string {
	return fmt.Sprintf("%s%d,%d,%d,%d", cropMark, c.X, c.Y, c.W, c.H)
}

// of returns the path of a crop of a file, told apart by an id.
func (c Crop) of(file, id string) string {
	return file + c.String() + "&id=" + url.QueryEscape(id)
}
