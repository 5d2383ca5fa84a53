package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"winnow/datasets"
	"winnow/internal/atomicfile"
)

// cifarClasses lists CIFAR-10's classes in the order of their labels.
var cifarClasses = []string{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}

const (
	perSheet   = 1000 // number of images in a sheet, one per row
	imageBytes = 3 * 32 * 32
	firstTest  = 50000 // number of the first test image
)

// cifar10n writes CIFAR-10's binary files (data_batch_1.bin with the first training images, test_batch.bin), as winnow
// reads them, from sheets of PNG, and a manifest for each kind of human label: clean, aggre, random1 to random3, worse.
// The true label is in the column true_label.
func cifar10n(args []string, stdout, stderr io.Writer) error {
	f, out := newFlags("cifar10n", stderr)
	images := f.String("images", "", "zip file with cifar10_batch_K.png (1024 wide, an image a row) and labels.csv "+
		"(row,label)")
	labels := f.String("labels", "", "cifar10n.csv.gz: index and human labels")
	held := f.Int("validation", 0, "use the last N training images, with clean labels, as the split validation")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *images == "" || *labels == "" || *out == "" || f.NArg() > 0 {
		fmt.Fprint(stderr, usage)
		return flag.ErrHelp
	}
	human, err := readHumanLabels(*labels)
	if err != nil {
		return err
	}
	z, err := zip.OpenReader(*images)
	if err != nil {
		return err
	}
	defer z.Close()
	given, err := readSheetLabels(&z.Reader)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	counts := map[string]int{}
	for name, sheets := range map[string][]int{"data_batch_1.bin": {0, 1, 2, 3, 4}, "test_batch.bin": {50}} {
		records, err := readSheets(&z.Reader, sheets, given)
		if err != nil {
			return err
		}
		counts[name] = len(records) / (1 + imageBytes)
		if err := atomicfile.WriteBytes(filepath.Join(*out, name), records); err != nil {
			return err
		}
	}
	for _, kind := range []string{"clean", "aggre", "random1", "random2", "random3", "worse"} {
		d, err := cifarDataset(kind, human, given, counts["data_batch_1.bin"], counts["test_batch.bin"], *held)
		if err != nil {
			return err
		}
		if err := writeManifest(filepath.Join(*out, kind+".csv"), d, stdout); err != nil {
			return err
		}
	}
	return nil
}

// cifarDataset returns the dataset with labels of one kind. The last training images, with clean labels, are the
// validation split.
func cifarDataset(kind string, human map[string][]int, given map[int]int, train, test,
	validation int) (*datasets.Dataset, error) {
	column := kind + "_label"
	if n, ok := strings.CutPrefix(kind, "random"); ok {
		column = "random_label" + n
	}
	labels, clean := human[column], human["clean_label"]
	if len(labels) < train || len(clean) < train {
		return nil, fmt.Errorf("prepare: found %d human labels of kind %s, expected at least %d", len(labels),
			column, train)
	}
	d := &datasets.Dataset{Classes: cifarClasses}
	for i := range train {
		if clean[i] != given[i] {
			return nil, fmt.Errorf("prepare: image %d: clean label %d, but %d in labels.csv", i, clean[i], given[i])
		}
		sample := datasets.Sample{Path: fmt.Sprintf("train/%05d.bmp", i), Label: labels[i], True: clean[i],
			Split: datasets.Train}
		if i >= train-validation {
			sample.Label, sample.Split = clean[i], datasets.Validation
		}
		d.Samples = append(d.Samples, sample)
	}
	for i := range test {
		label := given[firstTest+i]
		d.Samples = append(d.Samples, datasets.Sample{Path: fmt.Sprintf("test/%05d.bmp", i), Label: label,
			True: label, Split: datasets.Test})
	}
	return d, nil
}

// readSheets converts sheets to CIFAR-10's records: the label, followed by the red, the green and the blue plane.
func readSheets(z *zip.Reader, sheets []int, labels map[int]int) ([]byte, error) {
	var records []byte
	for _, k := range sheets {
		name := fmt.Sprintf("cifar10_batch_%d.png", k)
		data, err := fs.ReadFile(z, name)
		if err != nil {
			return nil, err
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("prepare: %s: %w", name, err)
		}
		if b := img.Bounds(); b != image.Rect(0, 0, imageBytes/3, perSheet) {
			return nil, fmt.Errorf("prepare: %s: %v, expected 1024×1000", name, b)
		}
		for row := range perSheet {
			label, ok := labels[k*perSheet+row]
			if !ok {
				return nil, fmt.Errorf("prepare: labels.csv has no row %d", k*perSheet+row)
			}
			record := make([]byte, 1+imageBytes)
			record[0] = byte(label)
			for x := range imageBytes / 3 {
				r, g, b, _ := img.At(x, row).RGBA()
				record[1+x], record[1+1024+x], record[1+2048+x] = byte(r>>8), byte(g>>8), byte(b>>8)
			}
			records = append(records, record...)
		}
	}
	return records, nil
}

// readSheetLabels reads labels.csv, which has the label of each row of all sheets.
func readSheetLabels(z *zip.Reader) (map[int]int, error) {
	data, err := fs.ReadFile(z, "labels.csv")
	if err != nil {
		return nil, err
	}
	table, err := readTable(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("prepare: labels.csv: %w", err)
	}
	rows, labels := table["row"], table["label"]
	if rows == nil || labels == nil {
		return nil, errors.New("prepare: labels.csv: expected the columns row and label")
	}
	given := map[int]int{}
	for i, row := range rows {
		if labels[i] < 0 || labels[i] > 9 {
			return nil, fmt.Errorf("prepare: labels.csv: row %d has the label %d", row, labels[i])
		}
		given[row] = labels[i]
	}
	return given, nil
}

// readHumanLabels reads the columns of cifar10n.csv.gz by name; element i is the label of image i.
func readHumanLabels(path string) (map[string][]int, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("prepare: %s: %w", path, err)
	}
	table, err := readTable(in)
	if err != nil {
		return nil, fmt.Errorf("prepare: %s: %w", path, err)
	}
	for i, index := range table["index"] {
		if index != i {
			return nil, fmt.Errorf("prepare: %s: line %d has the index %d, expected %d", path, i+2, index, i)
		}
	}
	for name, list := range table {
		for i, v := range list {
			if name != "index" && (v < 0 || v > 9) {
				return nil, fmt.Errorf("prepare: %s: %s of image %d is %d", path, name, i, v)
			}
		}
	}
	return table, nil
}

// readTable reads a CSV file of integers and returns its columns by name.
func readTable(r io.Reader) (map[string][]int, error) {
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, errors.New("is empty")
	}
	table := map[string][]int{}
	for _, row := range rows[1:] {
		for k, text := range row {
			v, err := strconv.Atoi(text)
			if err != nil {
				return nil, err
			}
			table[rows[0][k]] = append(table[rows[0][k]], v)
		}
	}
	return table, nil
}
