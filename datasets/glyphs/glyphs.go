// Package glyphs is winnow's built-in dataset: images of characters, drawn on demand from open fonts. It allows every
// step of winnow to be run and compared without a download.
//
// A class is a character. An image shows the character in one of up to 29 fonts, rotated, sheared, stretched, shaded,
// blurred and with noise, in front of strokes and parts of other characters. Train, validation and test contain
// different characters; upper case, lower case and accented forms of a letter are always in the same split. The
// characters of a further split, Pretrain, train the backbone glyphnet and are not part of the dataset.
//
// No image is stored: images are files of an [fs.FS], drawn when they are opened. The same Config gives the same
// pixels on every machine (see Renderer.Render).
//
// Of winnow's public packages it imports only datasets.
package glyphs

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"

	"winnow/datasets"
)

// Config selects a part of the dataset.
type Config struct {
	Classes int    // number in all splits, in the ratio 3 : 1 : 2; 0: all 240
	Images  int    // number per class; 0: DefaultImages
	Seed    uint64 // each image depends on Seed, its character and its number only
}

// Limits of a Config.
const (
	DefaultImages = 50
	maxImages     = 1000
	minClasses    = 12 // gives two validation classes; one class cannot be evaluated
)

// New returns the dataset and a file system with its images, named split/class/number.png. The Label and True of each
// sample are its character.
func New(cfg Config) (*datasets.Dataset, fs.FS, error) {
	characters, err := cfg.assignCharacters()
	if err != nil {
		return nil, nil, err
	}
	renderer, err := NewRenderer(characters)
	if err != nil {
		return nil, nil, err
	}
	images := &images{renderer, cfg.Seed, map[string]picture{}}
	d := &datasets.Dataset{}
	for _, c := range characters {
		d.Classes = append(d.Classes, c.nameClassFolder())
	}
	slices.Sort(d.Classes)
	for _, c := range characters {
		id, _ := slices.BinarySearch(d.Classes, c.nameClassFolder())
		for number := range cfg.Images {
			path := fmt.Sprintf("%s/%s/%03d.png", c.Split, c.nameClassFolder(), number)
			images.pictures[path] = picture{c.Char, number}
			d.Samples = append(d.Samples, datasets.Sample{Path: path, Label: id, True: id, Split: c.Split})
		}
	}
	return d, images, nil
}

// assignCharacters checks the config, sets its defaults and distributes the classes over the splits.
func (cfg *Config) assignCharacters() ([]Character, error) {
	var all [3][]Character
	total := 0
	for i, split := range []string{datasets.Train, datasets.Validation, datasets.Test} {
		all[i] = Characters(split)
		total += len(all[i])
	}
	cfg.Classes = cmp.Or(cfg.Classes, total)
	cfg.Images = cmp.Or(cfg.Images, DefaultImages)
	if cfg.Classes < minClasses || cfg.Classes > total {
		return nil, fmt.Errorf("glyphs: classes is %d, expected %d … %d", cfg.Classes, minClasses, total)
	}
	if cfg.Images < 2 || cfg.Images > maxImages {
		return nil, fmt.Errorf("glyphs: images per class is %d, expected 2 … %d", cfg.Images, maxImages)
	}
	counts := [3]int{1: cfg.Classes * len(all[1]) / total, 2: cfg.Classes * len(all[2]) / total}
	counts[0] = cfg.Classes - counts[1] - counts[2]
	var chosen []Character
	for i, n := range counts {
		for k := range n {
			chosen = append(chosen, all[i][k*len(all[i])/n])
		}
	}
	return chosen, nil
}
