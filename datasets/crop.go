package datasets

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Crop is a rectangle of an image in pixels, from the upper left corner, after the rotation that EXIF asks for.
type Crop struct{ X, Y, W, H int }

// cropMark separates a file from its crop, as in W3C's media fragments. Their commas are written as colons, so that
// paths need no quotes in CSV; both are read.
const cropMark = "#xywh="

// mostMargin is the largest margin of a crop, in sides of its box.
const mostMargin = 10

// mostPixels is the longest side that a crop may have.
const mostPixels = 1 << 24

// CutCrop splits the path of a crop: FILE#xywh=X:Y:W:H, optionally followed by &id=NAME, which distinguishes crops
// of the same rectangle. For any other path, cropped is false and file is the path.
func CutCrop(path string) (file string, c Crop, cropped bool) {
	at := strings.LastIndex(path, cropMark)
	if at < 1 {
		return path, c, false
	}
	numbers, id, named := strings.Cut(path[at+len(cropMark):], "&id=")
	fields := strings.Split(strings.ReplaceAll(numbers, ",", ":"), ":")
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

// String returns the part of a path that follows the file.
func (c Crop) String() string {
	return fmt.Sprintf("%s%d:%d:%d:%d", cropMark, c.X, c.Y, c.W, c.H)
}

// cropPath returns the path of a crop of a file; id distinguishes equal crops.
func (c Crop) cropPath(file, id string) string {
	return file + c.String() + "&id=" + url.QueryEscape(id)
}

// checkBoxes rejects settings with which no crop can be made.
func (o ReadOptions) checkBoxes() error {
	if o.CropMargin >= 0 && o.CropMargin <= mostMargin && o.MinBox >= 0 {
		return nil
	}
	return fmt.Errorf("found a margin of %v and a least side of %d pixels, expected a share from 0 to %d of a "+
		"box's side, and 0 pixels or more", o.CropMargin, o.MinBox, mostMargin)
}
