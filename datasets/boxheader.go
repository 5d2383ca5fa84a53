package datasets

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// boxKind is what the four numbers of a box are.
type boxKind int

const (
	noBox     boxKind = iota
	cornerBox         // left, upper, right and lower edge
	sideBox           // left and upper edge, width, height
	centreBox         // centre, width, height
)

// The pairs of columns that hold a box, as [plainColumn] writes their names, the most certain first.
var (
	centrePairs = [][2]string{{"xcenter", "ycenter"}, {"centerx", "centery"}, {"xcentre", "ycentre"},
		{"centrex", "centrey"}, {"cx", "cy"}, {"xc", "yc"}, {"xmid", "ymid"}, {"midx", "midy"}}
	lowPairs = [][2]string{{"xmin", "ymin"}, {"minx", "miny"}, {"xtl", "ytl"}, {"topleftx", "toplefty"},
		{"xtopleft", "ytopleft"}, {"upperleftx", "upperlefty"}, {"ulx", "uly"}, {"tlx", "tly"}, {"startx", "starty"},
		{"xstart", "ystart"}, {"left", "top"}, {"xleft", "ytop"}, {"x0", "y0"}, {"x1", "y1"}, {"x", "y"}}
	highPairs = [][2]string{{"xmax", "ymax"}, {"maxx", "maxy"}, {"xbr", "ybr"}, {"bottomrightx", "bottomrighty"},
		{"xbottomright", "ybottomright"}, {"lowerrightx", "lowerrighty"}, {"lrx", "lry"}, {"brx", "bry"},
		{"endx", "endy"}, {"xend", "yend"}, {"right", "bottom"}, {"xright", "ybottom"}, {"x2", "y2"}, {"x1", "y1"}}
	sizePairs = [][2]string{{"w", "h"}, {"bw", "bh"}, {"width", "height"}, {"wid", "hei"}}

	pictureSides = [][2]string{{"width", "height"}, {"imagewidth", "imageheight"}, {"imgwidth", "imgheight"},
		{"imagew", "imageh"}, {"imgw", "imgh"}}

	boxPrefixes = []string{"boundingbox", "bndbox", "bbox", "box", "bb", "roi", "rect"}
	// boxTexts are columns of whole boxes. Those whose name does not say what their numbers are have noBox.
	boxTexts = map[string]boxKind{"xyxy": cornerBox, "xywh": sideBox, "ltwh": sideBox, "ltrb": cornerBox,
		"cxcywh": centreBox, "": noBox, "es": noBox}
)

// certain are how many of the lowPairs and highPairs are columns of boxes and of nothing else.
const certain = 9

// plainColumn returns the letters and digits of a column's name, and what follows if it begins as that of a box.
func plainColumn(name string) (plain, ofBox string, boxed bool) {
	plain = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
	for _, prefix := range boxPrefixes {
		if rest, ok := strings.CutPrefix(plain, prefix); ok {
			return plain, rest, true
		}
	}
	return plain, "", false
}

// findBox returns the columns of boxes in a header, without those that have a meaning, or the one column of whole boxes
// in text. Columns that look like a box and are none that is known are an error.
func findBox(header []string, at places) (box [4]int, kind boxKind, text int, err error) {
	text = -1
	ofBox, all := map[string]int{}, map[string]int{} // columns named as those of a box, and with them all others
	for i, name := range header {
		plain, rest, boxed := plainColumn(name)
		if slices.Contains(at[:], i) {
			continue
		}
		if !boxed && (plain == "xyxy" || plain == "xywh") {
			rest, boxed = plain, true
		}
		if known, ok := boxTexts[rest]; ok && boxed || plain == "objects" {
			text, kind = i, known
			continue
		}
		if _, twice := ofBox[rest]; boxed && !twice {
			ofBox[rest] = i
		}
		if _, twice := all[plain]; !twice {
			all[plain] = i
		}
	}
	numbered := all["x3"] + all["y3"] + ofBox["x3"] + ofBox["y3"]
	for name, i := range ofBox {
		if _, twice := all[name]; !twice {
			all[name] = i
		}
	}
	for _, columns := range []map[string]int{ofBox, all} {
		if box, kind := pairsOfBox(columns); kind != noBox {
			if numbered > 0 {
				return box, noBox, -1, fmt.Errorf("the columns %.200q hold the corners of a polygon: write the box "+
					"around it as xmin, ymin, xmax, ymax", strings.Join(header, ","))
			}
			return box, kind, -1, nil
		}
	}
	if text >= 0 {
		return box, kind, text, nil
	}
	odd := len(ofBox) == 4
	for _, pairs := range [][][2]string{lowPairs[:certain], highPairs[:certain]} {
		odd = odd || firstPair(all, pairs) != nil
	}
	if odd {
		err = fmt.Errorf("some columns of %.200q look like a box, expected names such as xmin, ymin, xmax, ymax or x, "+
			"y, w, h: rename them, or remove them to read whole images", strings.Join(header, ","))
	}
	return box, noBox, -1, err
}

// pairsOfBox finds a box by the names of its columns.
func pairsOfBox(columns map[string]int) (box [4]int, kind boxKind) {
	size := firstPair(columns, sizePairs)
	if centre := firstPair(columns, centrePairs); centre != nil && size != nil {
		return [4]int{centre[0], centre[1], size[0], size[1]}, centreBox
	}
	low := firstPair(columns, lowPairs)
	if low == nil {
		return box, noBox
	}
	if high := firstPair(columns, highPairs); high != nil && high[0] != low[0] {
		return [4]int{low[0], low[1], high[0], high[1]}, cornerBox
	}
	if size != nil {
		return [4]int{low[0], low[1], size[0], size[1]}, sideBox
	}
	return box, noBox
}

// firstPair returns the columns of the first pair that there is, nil if there is none.
func firstPair(columns map[string]int, pairs [][2]string) []int {
	for _, pair := range pairs {
		x, hasX := columns[pair[0]]
		if y, hasY := columns[pair[1]]; hasX && hasY {
			return []int{x, y}
		}
	}
	return nil
}

// numbersOfBox reads four numbers in a text, such as [10, 10, 60, 60]; ok is false if it holds others.
func numbersOfBox(text string) (v [4]float64, ok bool) {
	fields := strings.FieldsFunc(strings.Trim(strings.TrimSpace(text), "[](){}"), func(r rune) bool {
		return r == ',' || r == ';' || unicode.IsSpace(r)
	})
	if len(fields) != 4 {
		return v, false
	}
	for i, field := range fields {
		var err error
		if v[i], err = strconv.ParseFloat(field, 64); err != nil {
			return v, false
		}
	}
	return v, true
}

// looksLikeBox reports whether a text holds a box or several: four numbers, or JSON with numbers.
func looksLikeBox(text string) bool {
	text = strings.TrimSpace(text)
	_, ok := numbersOfBox(text)
	return ok || (strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{")) &&
		json.Valid([]byte(strings.ReplaceAll(text, "'", `"`))) && strings.ContainsAny(text, "0123456789")
}
