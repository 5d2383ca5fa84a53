package decisions

import (
	"errors"
	"fmt"
	"io/fs"

	"winnow/datasets"
)

// ReadOutcomes returns the outcome of the decisions in a file: for each image the decision of more than half of the
// reviewers who were sure. It ignores decisions about images whose file in fsys has changed since; fsys may be nil. It
// reads a copy of the decisions file, so that the file may be read-only or open in a server.
func ReadOutcomes(path string, fsys fs.FS) (c *datasets.Checks, err error) {
	s, err := OpenCopy(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("review: decisions: %s does not exist, expected the decisions file of a review, by "+
			"default NAME.decisions.db next to the manifest", path)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	pictures := &Pictures{}
	if fsys != nil {
		if pictures, err = s.Pictures(fsys); err != nil {
			return nil, err
		}
	}
	c = &datasets.Checks{File: path, By: map[string]datasets.Checked{}}
	by, changed := map[string][]Image{}, map[string]bool{}
	err = s.Images(func(i Image) error {
		switch {
		case i.Action == Undecided:
		case pictures.Changed(i.Path, i.At):
			changed[i.Path] = true
		default:
			by[i.Path] = append(by[i.Path], i)
		}
		return nil
	})
	for path, list := range by {
		at, _ := Majority(len(list), func(i int) bool { return list[i].Action != Unsure },
			func(i, j int) bool { return list[i].Action == list[j].Action && list[i].Label == list[j].Label })
		if delete(changed, path); at < 0 {
			c.Open++
			continue
		}
		o := list[at]
		c.By[path] = datasets.Checked{Given: o.Given, Right: o.Action == Keep, Label: o.Label, Moved: o.Moved}
	}
	c.Changed = len(changed)
	return c, err
}

// Majority returns the first of n votes that agrees with more than half of the sure votes, or -1, and their number.
func Majority(n int, isSure func(i int) bool, same func(i, j int) bool) (at, sure int) {
	most := 0
	for i := range n {
		if !isSure(i) {
			continue
		}
		sure++
		alike := 0
		for j := range n {
			if isSure(j) && same(i, j) {
				alike++
			}
		}
		if alike > most {
			most, at = alike, i
		}
	}
	if 2*most <= sure {
		at = -1
	}
	return at, sure
}
