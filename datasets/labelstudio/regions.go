package labelstudio

import (
	"encoding/json"
	"math"
	"strings"
)

// Box is the box around a labelled region of a picture. Sides are percent of the picture's.
type Box struct {
	Control, Label     string // Label is "" if the region has several
	Left, Top          float64
	Width, Height      float64
	PictureW, PictureH float64 // sides of the picture in pixels, 0 if unknown
	ID                 string  // of the region; "" in JSON_MIN
	answer, result     int     // where it stands
}

// region is the value of a result that is a region: a rectangle, an ellipse or a polygon.
type region struct {
	X             float64      `json:"x"`
	Y             float64      `json:"y"`
	Width         float64      `json:"width"`
	Height        float64      `json:"height"`
	RadiusX       float64      `json:"radiusX"`
	RadiusY       float64      `json:"radiusY"`
	Rotation      float64      `json:"rotation"` // degrees, clockwise
	Points        [][2]float64 `json:"points"`
	Rectangle     texts        `json:"rectanglelabels"`
	Ellipse       texts        `json:"ellipselabels"`
	Polygon       texts        `json:"polygonlabels"`
	Labels        texts        `json:"labels"`         // of a rectangle, by a control of its own
	OriginalWidth float64      `json:"original_width"` // of JSON_MIN, where it stands here
	OriginalHigh  float64      `json:"original_height"`
}

// regionKeys are the keys of a region's labels.
var regionKeys = []string{"rectanglelabels", "ellipselabels", "polygonlabels", "labels"}

// computeBoxAround returns the box around a region; ok is false if it has no label of a region.
func (v *region) computeBoxAround(control string, width, height float64) (b Box, ok bool) {
	b = Box{Control: control, PictureW: width, PictureH: height}
	labels := v.Rectangle
	if v.Rectangle == nil && v.Labels != nil && v.Width > 0 && v.Height > 0 {
		labels = v.Labels
	}
	low, high := [2]float64{v.X, v.Y}, [2]float64{v.X + v.Width, v.Y + v.Height}
	switch {
	case v.Ellipse != nil:
		labels = v.Ellipse
		low, high = [2]float64{v.X - v.RadiusX, v.Y - v.RadiusY}, [2]float64{v.X + v.RadiusX, v.Y + v.RadiusY}
	case v.Polygon != nil:
		if labels = v.Polygon; len(v.Points) == 0 {
			return b, false
		}
		low, high = v.Points[0], v.Points[0]
		for _, p := range v.Points {
			for k := range 2 {
				low[k], high[k] = min(low[k], p[k]), max(high[k], p[k])
			}
		}
	case v.Rotation != 0 && width > 0 && height > 0: // around its upper left corner, in pixels
		sin, cos := math.Sincos(v.Rotation * math.Pi / 180)
		w, h := v.Width/100*width, v.Height/100*height
		low, high = [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
		for _, c := range [][2]float64{{0, 0}, {w, 0}, {0, h}, {w, h}} {
			x, y := v.X+100*(c[0]*cos-c[1]*sin)/width, v.Y+100*(c[0]*sin+c[1]*cos)/height
			low, high = [2]float64{min(low[0], x), min(low[1], y)}, [2]float64{max(high[0], x), max(high[1], y)}
		}
	}
	if len(labels) == 0 {
		return b, false
	}
	if len(labels) == 1 {
		b.Label = labels[0]
	}
	b.Left, b.Top, b.Width, b.Height = low[0], low[1], high[0]-low[0], high[1]-low[1]
	return b, true
}

// Separator parts the levels of a taxonomy, as Label Studio shows them by default.
const Separator = " / "

// paths is the value of a taxonomy: each choice is a path from the highest level.
type paths [][]string

// joinLevels returns the choices with their levels joined.
func (p paths) joinLevels() (list []string) {
	for _, path := range p {
		if label := strings.TrimSpace(strings.Join(path, Separator)); label != "" {
			list = append(list, label)
		}
	}
	return list
}

// readRegions returns the boxes in a value of JSON_MIN, a list of regions.
func readRegions(raw json.RawMessage, control string) (boxes []Box) {
	var list []region
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	for i := range list {
		if b, ok := list[i].computeBoxAround(control, list[i].OriginalWidth, list[i].OriginalHigh); ok {
			b.result = i
			boxes = append(boxes, b)
		}
	}
	return boxes
}

// Boxes returns the boxes of a control that count: those of the annotation marked as the ground truth or else of the
// last that has any. several says that more than one annotator drew boxes.
func Boxes(answers []Answer, control string) (boxes []Box, several bool) {
	at := ""
	for _, a := range Counting(answers) {
		var own []Box
		for _, b := range a.Boxes {
			if b.Control == control {
				own = append(own, b)
			}
		}
		if len(own) == 0 || a.Skipped {
			continue
		}
		several = several || boxes != nil
		if boxes == nil || a.at >= at {
			boxes, at = own, a.at
		}
	}
	return boxes, several
}
