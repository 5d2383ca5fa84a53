package review

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"sync"
)

// textIndex finds the paths that contain a text. All paths are concatenated in lower case, so that one search
// covers them (a million in some hundredths of a second). The results for the last texts are kept, because
// requests for the pages of a filter follow each other.
type textIndex struct {
	mutex sync.Mutex
	paths []byte   // the paths of all ids, each followed by a 0; nil: they are too long
	ends  []uint32 // position after the 0 of each id
	last  []heldText
}

type heldText struct {
	text  string
	holds []bool
}

// mostTexts is how many texts are remembered.
const mostTexts = 8

// findHoldingText reports for each id whether its path contains the text, ignoring case. text must be in lower case.
func (x *textIndex) findHoldingText(t *table, text string) []bool {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	if at := slices.IndexFunc(x.last, func(h heldText) bool { return h.text == text }); at >= 0 {
		h := x.last[at]
		x.last = append(slices.Delete(x.last, at, at+1), h)
		return h.holds
	}
	holds := make([]bool, len(t.all))
	if !strings.ContainsRune(text, 0) {
		x.markMatches(t, text, holds)
	}
	if len(x.last) == mostTexts {
		x.last = slices.Delete(x.last, 0, 1)
	}
	x.last = append(x.last, heldText{text, holds})
	return holds
}

// markMatches marks the ids whose path contains the text.
func (x *textIndex) markMatches(t *table, text string, holds []bool) {
	if x.paths == nil {
		for id, e := range t.all {
			holds[id] = strings.Contains(strings.ToLower(t.getImagePath(e.image)), text)
		}
		return
	}
	id := 0
	for at := 0; at < len(x.paths); {
		found := bytes.Index(x.paths[at:], []byte(text))
		if found < 0 {
			return
		}
		at += found
		n, there := slices.BinarySearch(x.ends[id:], uint32(at))
		if id += n; there {
			id++ // the match begins where the previous path ended
		}
		holds[id] = true
		at = int(x.ends[id])
	}
}

// fillTexts concatenates the paths, unless they are too long.
func (x *textIndex) fillTexts(t *table) {
	size := 0
	for _, e := range t.all {
		size += len(t.getImagePath(e.image)) + 1
	}
	if size > math.MaxUint32/2 {
		return
	}
	x.paths, x.ends = make([]byte, 0, size), make([]uint32, 0, len(t.all))
	for _, e := range t.all {
		x.paths = append(append(x.paths, strings.ToLower(t.getImagePath(e.image))...), 0)
		x.ends = append(x.ends, uint32(len(x.paths)))
	}
}
