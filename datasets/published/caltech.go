package published

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"winnow/datasets"
)

// caltech101 is Caltech-101: one folder per class in 101_ObjectCategories. BACKGROUND_Google, images of anything,
// is not a class and is left out, as in most papers. Classes are numbered in the order of their names.
//
// It was published without a split. Papers train on 30 images of each class and test on the others; [drawClassFiles]
// chooses which 30, the same on every machine. Source: Fei-Fei, Fergus, Perona, "Learning generative visual models from
// few training examples", CVPR Workshop 2004. The 8,677 images in 101 classes are those of today's archive.
var caltech101 = Preset{
	Name: "caltech101", Title: "Caltech-101 (Fei-Fei et al. 2004)",
	Files:   []string{"101_ObjectCategories", "accordion"},
	Default: usual, Read: func(fsys fs.FS, _ Options) ([]sample, error) {
		return readCaltech(fsys, "101_ObjectCategories", "accordion", 30,
			func(folder string, n int) (int, string, error) {
				if folder == "BACKGROUND_Google" {
					return 0, "", nil
				}
				return n, folder, nil
			})
	},
	Protocols: map[string]Protocol{usual: {
		Note:   "30 images of each class train, drawn once, the others test",
		Counts: []count{{datasets.Train, 101 * 30, 101}, {datasets.Test, 8677 - 101*30, 101}},
	}},
}

// caltech256 is Caltech-256: one folder per class in 256_ObjectCategories, such as 001.ak47. 257.clutter is not a
// class and is left out. It was published without a split, and is split like Caltech-101, with 60 training images
// per class, the most in its report's curves. SCL-RHE (004) does not say which split it uses.
//
// Source: Griffin, Holub, Perona, "Caltech-256 object category dataset", 2007: 30,607 images, 827 of them clutter.
var caltech256 = Preset{
	Name: "caltech256", Title: "Caltech-256 (Griffin et al. 2007)", Files: []string{"256_ObjectCategories", "001.ak47"},
	Default: usual, Read: func(fsys fs.FS, _ Options) ([]sample, error) {
		return readCaltech(fsys, "256_ObjectCategories", "001.ak47", 60,
			func(folder string, _ int) (int, string, error) {
				digits, name, ok := strings.Cut(folder, ".")
				class, err := strconv.Atoi(digits)
				if !ok || err != nil || class < 1 || name == "" {
					return 0, "", fmt.Errorf("folder %.80q is not of the form 001.ak47", folder)
				}
				if name == "clutter" {
					return 0, "", nil
				}
				return class, name, nil
			})
	},
	Protocols: map[string]Protocol{usual: {
		Note:   "60 images of each class train, drawn once, the others test",
		Counts: []count{{datasets.Train, 256 * 60, 256}, {datasets.Test, 30607 - 827 - 256*60, 256}},
	}},
}

// readCaltech reads the class folders below a folder, or below the root if that has the folder first, and draws
// training images of each. class returns number and name of the n-th class, counted from 1, from its folder's name;
// an empty name leaves it out. Images are the .jpg files directly in a class folder; deeper files are not part of
// the published set.
func readCaltech(fsys fs.FS, below, first string, training int,
	class func(folder string, n int) (int, string, error)) ([]sample, error) {
	if !isFolder(fsys, below) {
		if !isFolder(fsys, first) {
			return nil, refuseMissingFiles("folder "+below, "folder "+first)
		}
		below = "."
	}
	entries, err := fs.ReadDir(fsys, below)
	if err != nil {
		return nil, err
	}
	var samples []sample
	n, names := 1, make(map[string]string)
	for _, e := range entries {
		folder := path.Join(below, e.Name())
		if strings.HasPrefix(e.Name(), ".") || !isFolder(fsys, folder) {
			continue
		}
		number, name, err := class(e.Name(), n)
		if err != nil {
			return nil, err
		}
		if name == "" {
			continue
		}
		if was, twice := names[name]; twice {
			return nil, fmt.Errorf("found the class %.80q in %s and %s, expected one folder a class", name, was,
				e.Name())
		}
		names[name] = e.Name()
		images, err := imagesIn(fsys, folder, ".jpg")
		if err != nil {
			return nil, err
		}
		chosen := drawClassFiles(images, training)
		for _, file := range images {
			s := sample{Path: path.Join(folder, file), Class: number, Label: name, Split: datasets.Test}
			if chosen[file] {
				s.Split = datasets.Train
			}
			samples = append(samples, s)
		}
		n++
	}
	return samples, nil
}

// imagesIn lists the files of a folder with an ending, in upper or lower case, in order.
func imagesIn(fsys fs.FS, folder string, ends ...string) ([]string, error) {
	entries, err := fs.ReadDir(fsys, folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") &&
			slices.Contains(ends, strings.ToLower(path.Ext(e.Name()))) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// drawClassFiles chooses n files of a class: those whose names have the lowest SHA-256. An additional or missing file
// changes at most one of the others.
func drawClassFiles(names []string, n int) map[string]bool {
	type file struct {
		name string
		sum  [sha256.Size]byte
	}
	order := make([]file, len(names))
	for i, name := range names {
		order[i] = file{name, sha256.Sum256([]byte(name))}
	}
	slices.SortFunc(order, func(a, b file) int {
		return cmp.Or(bytes.Compare(a.sum[:], b.sum[:]), strings.Compare(a.name, b.name))
	})
	chosen := make(map[string]bool, n)
	for _, f := range order[:min(n, len(order))] {
		chosen[f.name] = true
	}
	return chosen
}
