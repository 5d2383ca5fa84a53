package datasets

import (
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"

	"winnow/internal/atomicfile"
)

// ParseShares reads SPLIT=SHARE,... such as train=0.6,test=0.4. Deal checks that the shares sum to 1.
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

// Deal splits d, by whole classes or by images of each class, with draws from the seed.
func (d *Dataset) Deal(shares []Share, byImage bool, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 0x73706c6974)) // "split"
	if byImage {
		return d.SplitByImage(shares, rng)
	}
	return d.SplitByClass(shares, rng)
}

// HoldOut moves a share of each class's training images to validation.
func (d *Dataset) HoldOut(share float64, seed uint64) error {
	train := d.Select(Train)
	part := &Dataset{Classes: d.Classes}
	for _, i := range train {
		part.Samples = append(part.Samples, d.Samples[i])
	}
	rng := rand.New(rand.NewPCG(seed, 0x686f6c64)) // "hold"
	if err := part.SplitByImage([]Share{{Split: Train, Share: 1 - share}, {Split: Validation, Share: share}}, rng); err != nil {
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

// WriteFile writes d as a CSV manifest, completely or not at all. A file called metadata.csv or metadata.jsonl is written as
// the metadata of an imagefolder, with the column file_name.
func WriteFile(path string, d *Dataset) error {
	write := WriteCSV
	switch filepath.Base(path) {
	case metadataCSV:
		write = func(w io.Writer, d *Dataset) error { return writeCSV(w, d, fileName) }
	case metadataJSONL:
		write = writeMetadata
	case metadataParquet:
		return fmt.Errorf("datasets: %s: cannot be written, expected %s or %s", path, metadataCSV, metadataJSONL)
	}
	return atomicfile.Write(path, func(w io.Writer) error { return write(w, d) })
}

// Leaks returns how many pictures are in two splits.
func (r *CheckReport) Leaks() (n int) {
	for _, dup := range r.Duplicates {
		if dup.Leak {
			n++
		}
	}
	return n
}
