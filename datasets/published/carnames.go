package published

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"winnow/datasets/matfile"
)

// carNames are the devkit's class names, by its number minus 1, and each class's number in folder order.
type carNames struct {
	names []string
	rank  []int
	// folders are the names as folders.
	folders []string
}

// carClasses reads a cell array of class names.
func carClasses(file string, a *matfile.Array) (carNames, error) {
	var c carNames
	if a == nil || a.Class != matfile.Cell || len(a.Cells) == 0 {
		return c, fmt.Errorf("%s: found no cell array class_names, expected the names of the classes", file)
	}
	for i, cell := range a.Cells {
		if cell.Class != matfile.Char || cell.Text == "" {
			return c, fmt.Errorf("%s: class_names: element %d is a %s array of %d, expected a name", file, i+1,
				cell.Class, cell.Len())
		}
		c.names = append(c.names, cell.Text)
		c.folders = append(c.folders, strings.ReplaceAll(cell.Text, "/", "-"))
	}
	c.rank = rankNames(c.folders)
	return c, nil
}

// newCarSample converts an annotation to a sample.
func (c carNames) newCarSample(annos *matfile.Array, i int, folder, file, split string) (sample, error) {
	name := annos.Field(i, file)
	if name.Class != matfile.Char || !fs.ValidPath(path.Join(folder, name.Text)) || name.Text == "" {
		return sample{}, fmt.Errorf("%s is %q, expected the name of a file", file, name.Text)
	}
	class, err := readOnlyInteger(annos.Field(i, "class"), 1, len(c.names))
	if err != nil {
		return sample{}, fmt.Errorf("class: %w", err)
	}
	s := sample{Path: path.Join(folder, name.Text), Known: c.folders[class-1] + "/" + path.Base(name.Text),
		Class: c.rank[class-1], Label: c.names[class-1], Split: split, Extra: make([]string, len(boxCorners))}
	for k, corner := range boxCorners {
		if v := annos.Field(i, corner); v != nil && len(v.Numbers) == 1 {
			s.Extra[k] = strconv.FormatFloat(v.Numbers[0], 'g', -1, 64)
		}
	}
	return s, nil
}

// carStruct checks the struct array of the annotations.
func carStruct(file string, a *matfile.Array, fields ...string) (*matfile.Array, error) {
	if a == nil || a.Class != matfile.Struct {
		return nil, fmt.Errorf("%s: found no struct array annotations", file)
	}
	for _, f := range fields {
		if !slices.Contains(a.Fields, f) {
			return nil, fmt.Errorf("%s: annotations have the fields %s, expected %s too", file,
				strings.Join(a.Fields, ", "), f)
		}
	}
	return a, nil
}

// readOnlyInteger returns the only number of an array, an integer from low to high.
func readOnlyInteger(a *matfile.Array, low, high int) (int, error) {
	if len(a.Numbers) != 1 {
		return 0, fmt.Errorf("found %d numbers, expected one", len(a.Numbers))
	}
	v := a.Numbers[0]
	if v != math.Trunc(v) || v < float64(low) || v > float64(high) {
		return 0, fmt.Errorf("found %v, expected an integer from %d to %d", v, low, high)
	}
	return int(v), nil
}
