package review

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"winnow/datasets"
)

// sortByRank orders the images by their ranks or, if there are none, by their scores, from which it then sets the
// ranks.
func (t *table) sortByRank() {
	ranked := len(t.list) > 0 && t.list[0].rank > 0
	slices.SortStableFunc(t.list, func(a, b entry) int {
		if ranked {
			return cmp.Compare(a.rank, b.rank)
		}
		return cmp.Compare(a.score, b.score)
	})
	for id := range t.list {
		e := &t.list[id]
		t.id[e.image] = int32(id)
		if !ranked {
			e.rank = int32(id + 1)
		}
	}
}

// completeImages adds the images that the audit does not have, and finds the splits.
func (t *table) completeImages() {
	audited := len(t.list)
	t.all, t.place, t.split = t.list, slices.Clone(t.id), make([]uint8, len(t.id))
	for image := range t.manifest.Samples {
		if t.id[image] == none {
			label := int32(none)
			if s := t.manifest.Samples[image]; s.Label != datasets.Unlabelled {
				label = int32(s.Label)
			}
			t.place[image] = int32(len(t.all))
			t.all = append(t.all, entry{image: int32(image), given: label, suggested: label, pair: none,
				score: math.NaN(), better: math.NaN(), fit: math.NaN()})
		}
		split := t.splitOf(int32(image))
		at := slices.Index(t.splits, split)
		if at < 0 { // there are five splits at most, and what is in several
			at, t.splits, t.sizes = len(t.splits), append(t.splits, split), append(t.sizes, 0)
		}
		t.split[t.place[image]] = uint8(at)
		t.sizes[at]++
	}
	t.list = t.all[:audited]
}

// markSuspects chooses the suspects if the audit does not say which labels are called wrong, as in lists of
// some other tools: all images with another suggested label or, if there are none, all images.
func (t *table) markSuspects() {
	other := false
	for _, e := range t.list {
		other = other || e.given != e.suggested
	}
	for i := range t.list {
		if e := &t.list[i]; !other || e.given != e.suggested {
			e.kinds |= suspect
		}
	}
}

// indexImages counts and sorts what the page often needs.
func (t *table) indexImages() {
	ascending := func(n int) []int32 {
		list := make([]int32, n)
		for i := range list {
			list[i] = int32(i)
		}
		return list
	}
	t.names = ascending(len(t.classes))
	slices.SortFunc(t.names, func(a, b int32) int { return strings.Compare(t.classes[a], t.classes[b]) })
	t.byPath = sync.OnceValue(func() []int32 {
		list := ascending(len(t.all))
		slices.SortFunc(list, func(a, b int32) int {
			return strings.Compare(t.getImagePath(t.all[a].image), t.getImagePath(t.all[b].image))
		})
		return list
	})
	t.at, t.audited = make([][]int32, len(t.classes)), make([]int32, len(t.classes))
	t.images, t.members = make([]int32, len(t.classes)), make([]int32, len(t.classes))
	for i := range t.manifest.Samples {
		if label := t.manifest.Samples[i].Label; label != datasets.Unlabelled {
			t.images[label]++
			t.labels++
		}
	}
	number := map[[2]int32]int32{}
	t.kinds, t.given, t.image = make([]kind, len(t.all)), make([]int32, len(t.all)), make([]int32, len(t.all))
	for id := range t.all {
		e := &t.all[id]
		t.kinds[id], t.given[id], t.image[id] = e.kinds, e.given, e.image
		if e.given != none {
			t.at[e.given] = append(t.at[e.given], int32(id))
		}
		if id >= len(t.list) {
			continue
		}
		t.audited[e.given]++
		for _, k := range kindNames {
			if e.kinds&k.kind != 0 {
				t.byKind[k.name]++
			}
		}
		if e.kinds&suspect == 0 {
			continue
		}
		t.members[e.given]++
		if e.given == e.suggested {
			continue
		}
		labels := [2]int32{e.given, e.suggested}
		p, ok := number[labels]
		if !ok {
			p = int32(len(t.pairs))
			number[labels] = p
			t.pairs = append(t.pairs, confusion{given: e.given, suggested: e.suggested})
		}
		t.pairs[p].suspects++
		e.pair = p
	}
}

// findImage returns the image with this path.
func (t *table) findImage(path string) (int32, bool) {
	image, ok := t.row[path]
	return image, ok
}

// getImagePath returns the path of an image of the manifest.
func (t *table) getImagePath(image int32) string { return t.manifest.Samples[image].Path }

// nameGivenLabel returns the given label of an image of the manifest, or "".
func (t *table) nameGivenLabel(image int32) string {
	if label := t.manifest.Samples[image].Label; label != datasets.Unlabelled {
		return t.classes[label]
	}
	return ""
}

// nameClassOrNone returns the name of a class, or "" for none.
func (t *table) nameClassOrNone(class int32) string {
	if class == none {
		return ""
	}
	return t.classes[class]
}
