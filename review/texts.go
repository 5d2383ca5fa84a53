package review

import (
	"slices"
	"strings"
	"sync"
)

// textIndex remembers whose path holds the texts that were asked for last: the pages of a filter follow each other.
type textIndex struct {
	mutex sync.Mutex
	last  []heldText
}

type heldText struct {
	text  string
	holds []bool
}

// mostTexts are remembered.
const mostTexts = 8

// holds says of each id whether its path holds the text, which is in lower case; capitals are no difference.
func (x *textIndex) holds(t *table, text string) []bool {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	if at := slices.IndexFunc(x.last, func(h heldText) bool { return h.text == text }); at >= 0 {
		h := x.last[at]
		x.last = append(slices.Delete(x.last, at, at+1), h)
		return h.holds
	}
	holds := make([]bool, len(t.image))
	for id, image := range t.image {
		path := t.path(image)
		holds[id] = strings.Contains(path, text) || strings.Contains(strings.ToLower(path), text)
	}
	if len(x.last) == mostTexts {
		x.last = slices.Delete(x.last, 0, 1)
	}
	x.last = append(x.last, heldText{text, holds})
	return holds
}
