package review

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// lasso is a polygon of the plane that holds images.
type lasso struct {
	corners   []spot
	low, high spot   // of the corners
	at        []spot // places of the images
}

// mostCorners is the largest number of a lasso's corners.
const mostCorners = 200

// readLasso reads the corners of a lasso, x,y,x,y,…, or returns nil if there is none.
func (p *parameters) readLasso(places *plane) *lasso {
	text := p.getValue("lasso")
	if text == "" {
		return nil
	}
	places.mutex.Lock()
	l := &lasso{at: places.at}
	places.mutex.Unlock()
	if l.at == nil {
		p.failWith("lasso: the map has no places yet")
	}
	words := strings.Split(text, ",")
	if len(words)%2 != 0 || len(words) < 6 || len(words) > 2*mostCorners {
		p.failWith("lasso: found %d numbers, expected x,y of 3 to %d corners", len(words), mostCorners)
		return l
	}
	for i := 0; i < len(words); i += 2 {
		x, errX := strconv.ParseFloat(words[i], 32)
		y, errY := strconv.ParseFloat(words[i+1], 32)
		if err := errors.Join(errX, errY); err != nil || math.IsNaN(x+y) {
			p.failWith("lasso: found %.40q, expected numbers", words[i]+","+words[i+1])
		}
		c := spot{float32(x), float32(y)}
		if len(l.corners) == 0 {
			l.low, l.high = c, c
		}
		l.low, l.high = spot{min(l.low.x, c.x), min(l.low.y, c.y)}, spot{max(l.high.x, c.x), max(l.high.y, c.y)}
		l.corners = append(l.corners, c)
	}
	return l
}

// holdsImage reports whether an image is inside, by the even-odd rule.
func (l *lasso) holdsImage(image int32) bool {
	at, in := l.at[image], false
	if !(at.x >= l.low.x && at.x <= l.high.x && at.y >= l.low.y && at.y <= l.high.y) { // also without a place
		return false
	}
	for i, j := 0, len(l.corners)-1; i < len(l.corners); j, i = i, i+1 {
		a, b := l.corners[i], l.corners[j]
		if (a.y > at.y) != (b.y > at.y) && at.x < (b.x-a.x)*(at.y-a.y)/(b.y-a.y)+a.x {
			in = !in
		}
	}
	return in
}
