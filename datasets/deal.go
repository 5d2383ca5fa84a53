package datasets

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"winnow/internal/atomicfile"
	"winnow/internal/regular"
	"winnow/internal/text"
)

// ParseShares parses SPLIT=SHARE,... such as train=0.6,test=0.4. Deal checks that the shares sum to 1.
func ParseShares(text string) ([]Share, error) {
	var shares []Share
	for _, part := range strings.Split(text, ",") {
		split, number, _ := strings.Cut(part, "=")
		share, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not SPLIT=SHARE, for example train=0.5,test=0.5", part)
		}
		shares = append(shares, Share{Split: split, Share: share})
	}
	return shares, nil
}

// Deal splits d, by whole classes or by images of each class; seed determines the draw.
func (d *Dataset) Deal(shares []Share, byImage bool, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 0x73706c6974)) // "split"
	if byImage {
		return d.splitByImage(shares, rng)
	}
	return d.splitByClass(shares, rng)
}

// HoldOut moves a share of each class's training images to validation.
func (d *Dataset) HoldOut(share float64, seed uint64) error {
	train := d.Select(Train)
	part := &Dataset{Classes: d.Classes}
	for _, i := range train {
		part.Samples = append(part.Samples, d.Samples[i])
	}
	rng := rand.New(rand.NewPCG(seed, 0x686f6c64)) // "hold"
	if err := part.splitByImage([]Share{{Split: Train, Share: 1 - share}, {Split: Validation, Share: share}},
		rng); err != nil {
		return err
	}
	for k, i := range train {
		d.Samples[i].Split = part.Samples[k].Split
	}
	return nil
}

// ToplineRand returns the random source of a topline for a seed.
func ToplineRand(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x746f706c696e65)) // "topline"
}

// WriteFile writes d atomically, in the form that Write chooses by the file's name. note, if not nil, reports what
// Write leaves out.
func WriteFile(name string, d *Dataset, note func(format string, args ...any)) error {
	if n := len(d.Samples) - len(d.named().Samples); n > 0 && note != nil {
		k := slices.IndexFunc(d.Samples, func(s Sample) bool { return !utf8.ValidString(s.Path) })
		first := d.Samples[k].Path
		note("%s: %s left out, the first is %s: %v", name, text.Plural(n, "image"), first, regular.ErrName)
	}
	if base := filepath.Base(name); base == metadataParquet || strings.HasSuffix(base, ".labelstudio.json") {
		return fmt.Errorf("datasets: %s: cannot be written here, expected %s or %s", name, metadataCSV, metadataJSONL)
	}
	return atomicfile.Write(name, func(w io.Writer) error { return Write(w, name, d) })
}

// Write writes d in the form that the file name implies: metadata.csv or metadata.jsonl as an imagefolder's
// metadata, with the column file_name; labels.json as the labels of FiftyOne's FiftyOneImageClassificationDataset;
// any other name as a CSV manifest. It leaves out images, and images of folders, whose names are not UTF-8: no text
// could name them.
func Write(w io.Writer, name string, d *Dataset) error {
	d = d.named()
	switch filepath.Base(name) {
	case metadataCSV:
		return writeCSV(w, d, fileName)
	case metadataJSONL:
		return writeMetadata(w, d)
	case labelsJSON:
		return writeFiftyOne(w, d)
	}
	return writeCSV(w, d, ownNames[pathColumn])
}

// named returns d without the images that no text can name.
func (d *Dataset) named() *Dataset {
	of := *d
	of.Samples = slices.DeleteFunc(slices.Clone(d.Samples), func(s Sample) bool { return !utf8.ValidString(s.Path) })
	return &of
}

// labelsJSON is the name of FiftyOne's file of labels.
const labelsJSON = "labels.json"

// writeFiftyOne writes the class names and, for each image, the number of its class or null. FiftyOne names an image by
// its path below the data folder, without the ending.
func writeFiftyOne(w io.Writer, d *Dataset) error {
	labels := make(map[string]*int, len(d.Samples))
	for i := range d.Samples {
		s := &d.Samples[i]
		if _, _, cropped := CutCrop(s.Path); cropped {
			return fmt.Errorf("datasets: %s: is a crop, expected a file, as %s names it", s.Path, labelsJSON)
		}
		if !utf8.ValidString(s.Path) {
			return fmt.Errorf("datasets: %.200q: expected UTF-8, as JSON needs", s.Path)
		}
		key := strings.TrimSuffix(s.Path, path.Ext(s.Path))
		if _, twice := labels[key]; twice {
			return fmt.Errorf("datasets: %s: another image differs in its ending only, without which %s names images",
				s.Path, labelsJSON)
		}
		if labels[key] = nil; s.Label >= 0 {
			labels[key] = &s.Label
		}
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out.Encode(struct {
		Classes []string        `json:"classes"`
		Labels  map[string]*int `json:"labels"`
	}{append([]string{}, d.Classes...), labels})
}

// Leaks returns how many images are in two splits.
func (r *CheckReport) Leaks() (n int) {
	for _, dup := range r.Duplicates {
		if dup.Leak {
			n++
		}
	}
	return n
}
