package published

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"winnow/datasets"
)

// Joined is what Join made.
type Joined struct {
	Dataset *datasets.Dataset
	How     string // how the list's labels were understood: ByName, ByNumber or ByMajority
	Rows    int    // of the list
	LeftOut int    // training images that the list does not have
}

// How the labels of a list are understood.
const (
	ByName     = "name"     // they are names of classes
	ByNumber   = "number"   // they number the classes, in the order of their names, from 1
	ByMajority = "majority" // each stands for the class that most of its images show, no two for the same
)

// sameNumbering is the share of a list's labels that must be right for its labels to be names or numbers of the
// classes: noise leaves more than that, and another numbering hits as good as none.
const sameNumbering = 0.1

// Join gives the training images of a clean manifest the labels of a list with label noise, as PRISM's released ones:
// what was the label becomes the true one. An image is found by its file's name; where several share that, by as many
// of the folders above as it takes, or by its class standing in the path. Training images that the list does not
// have are left out (PRISM's "cleaned" lists have fewer), the other splits stay as they are.
//
// PRISM's lists with symmetric noise number the classes in the order of their names. Those with small-cluster noise
// are renumbered from 0 and merge classes: there a label is the class that it holds whole, the largest if several,
// or otherwise the class that most of its images show.
func Join(clean, noisy *datasets.Dataset) (*Joined, error) {
	rows, err := matchFiles(clean, noisy)
	if err != nil {
		return nil, err
	}
	how, of, err := nameLabels(clean, noisy, rows)
	if err != nil {
		return nil, err
	}
	out := &datasets.Dataset{Classes: slices.Clone(clean.Classes), Columns: clean.Columns}
	given := make(map[int]int, len(rows)) // row of clean → label
	for k, row := range rows {
		given[row] = noisy.Samples[k].Label
	}
	j := &Joined{Dataset: out, How: how, Rows: len(rows)}
	for i, s := range clean.Samples {
		if s.Split == datasets.Train {
			label, ok := given[i]
			if !ok {
				j.LeftOut++
				continue
			}
			s.True = s.Label
			if s.Label = datasets.Unlabelled; label != datasets.Unlabelled {
				class, named := of[label]
				if !named {
					return nil, fmt.Errorf("label %q stands for no class of the clean manifest", noisy.Classes[label])
				}
				s.Label = class
			}
		}
		out.Samples = append(out.Samples, s)
	}
	return j, nil
}

// matchFiles finds each row of the list among the training images.
func matchFiles(clean, noisy *datasets.Dataset) ([]int, error) {
	byName := make(map[string][]int)
	for _, i := range clean.Select(datasets.Train) {
		base := path.Base(clean.Samples[i].Path)
		byName[base] = append(byName[base], i)
	}
	rows, taken := make([]int, len(noisy.Samples)), make(map[int]int)
	lost, first := 0, ""
	for k := range noisy.Samples {
		p := noisy.Samples[k].Path
		candidates := byName[path.Base(p)]
		if len(candidates) == 0 {
			if lost++; lost == 1 {
				first = p
			}
			continue
		}
		best, tied, likeness := 0, false, -1
		for _, i := range candidates {
			switch l := alike(p, clean, i); {
			case l > likeness:
				best, tied, likeness = i, false, l
			case l == likeness:
				tied = true
			}
		}
		if tied {
			return nil, fmt.Errorf("%q fits several of the %d training images of that name in the clean manifest, expected one", p, len(candidates))
		}
		if was, twice := taken[best]; twice {
			return nil, fmt.Errorf("%q and %q are both the training image %q", noisy.Samples[was].Path, p, clean.Samples[best].Path)
		}
		rows[k], taken[best] = best, k
	}
	if lost > 0 {
		return nil, fmt.Errorf("%d of the list's %d images are no training images of the clean manifest, the first is %q", lost, len(rows), first)
	}
	return rows, nil
}

// alike counts the elements that two paths share at their ends; a class that is named by the list's path counts as
// a folder. ("/" cannot stand in a folder's name: there it became "-".)
func alike(p string, clean *datasets.Dataset, i int) int {
	a, b := strings.Split(p, "/"), strings.Split(clean.Samples[i].Path, "/")
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	if label := clean.Samples[i].Label; n == 1 && len(a) > 1 && label != datasets.Unlabelled &&
		a[len(a)-2] == strings.ReplaceAll(clean.Classes[label], "/", "-") {
		n++
	}
	return n
}

// nameLabels finds out what classes the list's labels stand for.
func nameLabels(clean, noisy *datasets.Dataset, rows []int) (how string, of map[int]int, err error) {
	for _, i := range rows {
		if clean.Samples[i].Label == datasets.Unlabelled {
			return "", nil, fmt.Errorf("training image %q of the clean manifest has no label, expected one: it becomes the true one", clean.Samples[i].Path)
		}
	}
	order := make([]int, len(clean.Classes)) // class ids in the order of their names
	for i := range order {
		order[i] = i
	}
	if !integers(clean.Classes) {
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(clean.Classes[a], clean.Classes[b]) })
	} else {
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(number(clean.Classes[a]), number(clean.Classes[b])) })
	}
	byName, byNumber, ids := make(map[int]int), make(map[int]int), make(map[string]int)
	for class, name := range clean.Classes {
		ids[name] = class
	}
	for label, name := range noisy.Classes {
		if class, ok := ids[name]; ok {
			byName[label] = class
		}
		if n := number(name); n >= 1 && n <= len(order) {
			byNumber[label] = order[n-1]
		}
	}
	if agreement(clean, noisy, rows, byName) >= sameNumbering {
		return ByName, byName, nil
	}
	if agreement(clean, noisy, rows, byNumber) >= sameNumbering {
		return ByNumber, byNumber, nil
	}
	return ByMajority, majority(clean, noisy, rows), nil
}

// agreement is the share of rows whose label stands for their true class.
func agreement(clean, noisy *datasets.Dataset, rows []int, of map[int]int) float64 {
	right := 0
	for k, i := range rows {
		if class, ok := of[noisy.Samples[k].Label]; ok && class == clean.Samples[i].Label {
			right++
		}
	}
	return float64(right) / float64(max(1, len(rows)))
}

// majority gives each label a class of its own: the pairs of label and class with the most images in common come
// first, those of classes that all stand under one label before the others.
func majority(clean, noisy *datasets.Dataset, rows []int) map[int]int {
	type pair struct{ label, class, images int }
	count, size := make(map[[2]int]int), make(map[int]int)
	for k, i := range rows {
		class := clean.Samples[i].Label
		count[[2]int{noisy.Samples[k].Label, class}]++
		size[class]++
	}
	var pairs []pair
	for key, n := range count {
		pairs = append(pairs, pair{key[0], key[1], n})
	}
	whole := func(p pair) int {
		if p.images == size[p.class] {
			return 0
		}
		return 1
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(whole(a)-whole(b), b.images-a.images, a.label-b.label, a.class-b.class)
	})
	of, used := make(map[int]int), make(map[int]bool)
	for _, p := range pairs {
		if _, done := of[p.label]; !done && !used[p.class] && p.label != datasets.Unlabelled {
			of[p.label], used[p.class] = p.class, true
		}
	}
	return of
}
