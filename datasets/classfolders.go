package datasets

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

// classFolders are the folders at a place, which may be classes.
type classFolders struct {
	t               *listing
	name, at, split string
	format          Format
}

// domainColumn keeps the folder above the class of an image, where folders of classes repeat below several.
const domainColumn = "folder"

// listFolderRows returns a row for each image in a class folder. The meaning of the folders is judged from all of them:
// those named after splits within the classes are splits; names that repeat below several folders may be the classes
// (domains, years, folds), and that is asked; folders that hold pictures of the same names are views of one scene.
func (c *classFolders) listFolderRows() (rows []row, columns []string, err error) {
	if c.format == Auto || c.format == "" {
		if err := c.sceneViews(); err != nil {
			return nil, nil, err
		}
	}
	below := map[string]map[string]bool{} // the folders in a folder, by their names
	direct, inverted, nested := 0, true, 0
	var images []string
	var folders [][]string // of the images: below the place, without folders of pictures
	for _, p := range c.t.images {
		rest, ok := cutFolder(p, c.at)
		parts := strings.Split(rest, "/")
		if c.t.opaque[p] {
			parts = append(parts, "")
		}
		if !ok || len(parts) < 2 {
			continue
		}
		parts = parts[:len(parts)-1]
		for len(parts) > 2 && isNoClass(parts[1]) {
			parts = slices.Delete(parts, 1, 2)
		}
		images, folders = append(images, p), append(folders, parts)
		if len(parts) == 1 || isNoClass(parts[1]) {
			direct++
			continue
		}
		_, err := ParseSplit(parts[1])
		inverted, nested = inverted && err == nil, nested+1
	}
	inverted = inverted && nested > direct && c.format != Classes
	for i, parts := range folders {
		r := row{path: images[i], label: parts[0], split: c.split}
		if inverted && len(parts) > 1 {
			r.split, _ = ParseSplit(parts[1]) // it is one
			folders[i] = slices.Delete(slices.Clone(parts), 1, 2)
		}
		if parts = folders[i]; len(parts) > 1 && !isNoClass(parts[1]) {
			if below[parts[0]] == nil {
				below[parts[0]] = map[string]bool{}
			}
			below[parts[0]][parts[1]] = true
		}
		rows = append(rows, r)
	}
	repeated := repeatedNames(below)
	if len(repeated) == 0 || 10*direct > len(rows) || c.format == Classes {
		return rows, nil, nil
	}
	if c.format != Folders {
		return nil, nil, c.askDomains(slices.Sorted(maps.Keys(below)), repeated, images[0], folders[0])
	}
	kept := rows[:0]
	for i, r := range rows {
		if len(folders[i]) > 1 {
			r.label, r.extra = folders[i][1], []string{folders[i][0]}
			kept = append(kept, r)
		}
	}
	return kept, []string{domainColumn}, nil
}

// repeatedNames returns the names of folders that are below several others, if they are at least two, and at least half
// of all.
func repeatedNames(below map[string]map[string]bool) []string {
	times := map[string]int{}
	for _, names := range below {
		for name := range names {
			times[name]++
		}
	}
	all := len(times)
	maps.DeleteFunc(times, func(_ string, n int) bool { return n < 2 })
	if len(times) < 2 || 2*len(times) < all {
		return nil
	}
	return slices.Sorted(maps.Keys(times))
}

// askDomains is the error for folders that repeat below several others.
func (c *classFolders) askDomains(upper, lower []string, image string, folders []string) error {
	return fmt.Errorf("datasets: %s: found the folders %s below each of %s. Two readings are possible: the lower "+
		"folders are the classes (%s is of class %q), or the upper ones (of class %q). Choose with %sfolders "+
		"(lower) or %[7]sclasses (upper)", c.name, shortList(lower), shortList(upper), image,
		folders[min(1, len(folders)-1)], folders[0], byFormat)
}

// viewWords are the words in the names of folders that hold views of the same scenes: pictures, depths, masks.
var viewWords = []string{"rgb", "depth", "depths", "gt", "groundtruth", "mask", "masks", "label", "labels", "image",
	"images", "img", "imgs", "annotation", "annotations", "annot", "seg", "segmentation", "segmentations", "semantic",
	"instance", "instances", "disparity", "thermal", "infrared", "ir", "nir", "visible", "lidar", "original",
	"originals", "input", "inputs", "target", "targets", "color", "colour", "edges", "contours", "trimaps", "matte",
	"alpha", "saliency"}

// wordsOf returns the words of a name in lower case, without numbers: ground_truth is one.
func wordsOf(name string) []string {
	name = strings.NewReplacer("ground_", "ground", "ground ", "ground").Replace(strings.ToLower(name))
	return strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) })
}

func isView(name string) bool {
	words := wordsOf(name)
	return isNoClass(name) || len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool {
		return !slices.Contains(viewWords, w)
	})
}

// isSureView reports whether a folder's name is that of no class of pictures.
func isSureView(name string) bool {
	return slices.Contains([]string{"rgb", "depth", "gt", "groundtruth", "label", "labels", "annotations", "disparity",
		"segmentation"}, strings.Join(wordsOf(name), " "))
}

// sceneViews returns an error for folders that hold pictures of the same names, as those of one scene do: two that are
// named after views, one called images and another, or two with other endings and names that count nothing. A single
// folder called images is no class.
func (c *classFolders) sceneViews() error {
	tops, _ := c.t.listTopFolders(c.at)
	stems, endings := map[string]map[string]bool{}, map[string]map[string]bool{}
	nested := map[string]bool{}
	for _, p := range c.t.images {
		rest, ok := cutFolder(p, c.at)
		top, below, deep := strings.Cut(rest, "/")
		if !ok || !deep {
			continue
		}
		if stems[top] == nil {
			stems[top], endings[top] = map[string]bool{}, map[string]bool{}
		}
		var words []string
		for _, word := range strings.FieldsFunc(strings.TrimSuffix(path.Base(p), path.Ext(p)), func(r rune) bool {
			return r == '_' || r == '-' || r == '.' || r == ' '
		}) {
			if !strings.EqualFold(word, top) && !slices.Contains(viewWords, strings.ToLower(word)) {
				words = append(words, word)
			}
		}
		stems[top][strings.Join(words, "_")] = true
		endings[top][strings.ToLower(path.Ext(p))] = true
		nested[top] = nested[top] || strings.Contains(below, "/")
	}
	if len(tops) == 1 && isNoClass(tops[0]) && !nested[tops[0]] {
		return c.t.explainLoose(c.name, len(stems[tops[0]]), tops[0])
	}
	for i, a := range tops {
		for _, b := range tops[i+1:] {
			same, counting := 0, true
			for stem := range stems[a] {
				counting = counting && strings.Trim(stem, "0123456789_") == ""
				if stems[b][stem] {
					same++
				}
			}
			least, most := min(len(stems[a]), len(stems[b])), max(len(stems[a]), len(stems[b]))
			named := isView(a) && isView(b) || isNoClass(a) && !nested[a] || isNoClass(b) && !nested[b]
			other := !counting && 10*same >= 9*most && len(endings[a]) == 1 && len(endings[b]) == 1 &&
				!maps.Equal(endings[a], endings[b])
			sure := 10*same >= 9*most && (isSureView(a) || isSureView(b))
			if named && 2*same > least || other || sure {
				return fmt.Errorf("datasets: %s: found the folders %s and %s with pictures of the same names, as "+
					"views of one scene or its masks, and no class folders: put the pictures of each class into a "+
					"folder, or write a list with the columns path and label%s. %sclasses reads the folders as "+
					"classes", c.name, a, b, c.t.nameLists(), byFormat)
			}
		}
	}
	return nil
}
