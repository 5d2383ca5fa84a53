package review

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"winnow/datasets"
)

// sort orders the images by their ranks or, if there are none, by their scores, from which it then sets the
// ranks.
func (t *table) sort() {
	order := make([]int32, len(t.image))
	for i := range order {
		order[i] = int32(i)
	}
	ranked := len(t.rank) > 0 && t.rank[0] > 0
	before := func(a, b int32) int { return cmp.Compare(t.score[a], t.score[b]) }
	if ranked {
		before = func(a, b int32) int { return cmp.Compare(t.rank[a], t.rank[b]) }
	}
	if !slices.IsSortedFunc(order, before) {
		slices.SortStableFunc(order, before)
		near, ends := make([]int32, 0, len(t.near)), make([]uint32, 0, len(t.ends))
		for _, i := range order {
			given, suggested, copies := t.lists(int(i))
			for _, list := range [][]int32{given, suggested, copies} {
				near = append(near, list...)
				ends = append(ends, uint32(len(near)))
			}
		}
		t.near, t.ends = near, ends
		for _, column := range []*[]int32{&t.image, &t.rank, &t.given, &t.suggested} {
			*column = inOrder(*column, order)
		}
		for _, column := range []*[]float64{&t.score, &t.better, &t.fit} {
			*column = inOrder(*column, order)
		}
		t.kinds, t.said = inOrder(t.kinds, order), inOrder(t.said, order)
	}
	for id, image := range t.image {
		t.id[image] = int32(id)
		if !ranked {
			t.rank[id] = int32(id + 1)
		}
	}
}

// inOrder returns a column in another order.
func inOrder[T any](column []T, order []int32) []T {
	out := make([]T, len(order))
	for to, from := range order {
		out[to] = column[from]
	}
	return out
}

// markSuspects chooses the suspects if the audit does not say which labels are called wrong, as in lists of
// some other tools: all images with another suggested label or, if there are none, all images.
func (t *table) markSuspects() {
	other := false
	for i := range t.kinds {
		if t.given[i] != t.suggested[i] {
			t.kinds[i] |= suspect
			other = true
		}
	}
	for i := range t.kinds {
		if !other {
			t.kinds[i] |= suspect
		}
	}
}

// index counts and sorts what the page often needs.
func (t *table) index() {
	ascending := func(n int) []int32 {
		list := make([]int32, n)
		for i := range list {
			list[i] = int32(i)
		}
		return list
	}
	t.ranks, t.names = ascending(len(t.image)), ascending(len(t.classes))
	slices.SortFunc(t.names, func(a, b int32) int { return strings.Compare(t.classes[a], t.classes[b]) })
	t.byPath = sync.OnceValue(func() []int32 {
		list := slices.Clone(t.ranks)
		slices.SortFunc(list, func(a, b int32) int { return strings.Compare(t.path(t.image[a]), t.path(t.image[b])) })
		return list
	})
	t.at = make([][]int32, len(t.classes))
	t.images, t.members = make([]int32, len(t.classes)), make([]int32, len(t.classes))
	for i := range t.manifest.Samples {
		if label := t.manifest.Samples[i].Label; label != datasets.Unlabelled {
			t.images[label]++
		}
	}
	number := map[[2]int32]int32{}
	t.pair = slices.Repeat([]int32{none}, len(t.image))
	for id := range t.image {
		given, other := t.given[id], t.suggested[id]
		t.at[given] = append(t.at[given], int32(id))
		for _, k := range kindNames {
			if t.kinds[id]&k.kind != 0 {
				t.byKind[k.name]++
			}
		}
		if t.kinds[id]&suspect == 0 {
			continue
		}
		t.members[given]++
		if given == other {
			continue
		}
		p, ok := number[[2]int32{given, other}]
		if !ok {
			p = int32(len(t.pairs))
			number[[2]int32{given, other}] = p
			t.pairs = append(t.pairs, confusion{given: given, suggested: other})
		}
		t.pairs[p].suspects++
		t.pair[id] = p
	}
}

// lists returns an image's neighbours with the given label, those with the suggested one, and its copies with
// other labels.
func (t *table) lists(id int) (given, suggested, copies []int32) {
	from := uint32(0)
	if id > 0 {
		from = t.ends[3*id-1]
	}
	return t.near[from:t.ends[3*id]], t.near[t.ends[3*id]:t.ends[3*id+1]], t.near[t.ends[3*id+1]:t.ends[3*id+2]]
}

// find returns the image with this path.
func (t *table) find(path string) (int32, bool) {
	image, ok := t.row[path]
	return image, ok
}

// path returns the path of an image of the manifest.
func (t *table) path(image int32) string { return t.manifest.Samples[image].Path }

// label returns the given label of an image of the manifest, or "".
func (t *table) label(image int32) string {
	if label := t.manifest.Samples[image].Label; label != datasets.Unlabelled {
		return t.classes[label]
	}
	return ""
}
