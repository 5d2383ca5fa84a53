package importing

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"winnow/datasets"
	"winnow/datasets/packed"
)

// Catalog lists the datasets that winnow supports, by name.
func Catalog() []Preset {
	return []Preset{
		caltech256, cars196, cars98N, cifar10, cifar100, cifar100N, cifar10N, cub200, fashionMNIST, flowers102, food101,
		food101N, imageNet, iNat2017, inShop, mnistDigits, pets, places365, sop,
	}
}

var mnistFiles = []string{"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz",
	"t10k-labels-idx1-ubyte.gz"}

// mnistDigits is MNIST. Source: LeCun, Cortes, Burges, "The MNIST database of handwritten digits".
var mnistDigits = newPacked("mnist", "MNIST (LeCun, Cortes, Burges)", 60000, 10, packed.ReadMNIST, mnistFiles)

// fashionMNIST uses the file names of MNIST. Source: Xiao, Rasul, Vollgraf, "Fashion-MNIST", 2017.
var fashionMNIST = newPacked("fashion-mnist", "Fashion-MNIST (Xiao et al. 2017)", 60000, 10, packed.ReadMNIST,
	mnistFiles)

// cifar10 and cifar100 are the binary versions of CIFAR; cifar100 has the fine labels. Source: Krizhevsky 2009.
var (
	cifar10 = newPacked("cifar10", "CIFAR-10, binary version (Krizhevsky 2009)", 50000, 10, packed.ReadCIFAR10,
		[]string{"data_batch_1.bin", "test_batch.bin"})
	cifar100 = newPacked("cifar100", "CIFAR-100, binary version (Krizhevsky 2009)", 50000, 100, packed.ReadCIFAR100,
		[]string{"train.bin", "test.bin"})
)

// cifar10N and cifar100N are CIFAR with human labels for the training images: the given label is a person's, the true
// label is CIFAR's. The folder is CIFAR's and may contain the label file, which can also be given separately.
//
// CIFAR-10N has five label sets. Three people labelled each image (random1, random2, random3); aggre is their majority;
// worse is one of the wrong labels, if any. The images must be in the order of CIFAR's batches, which is checked with
// the set clean_label. Source: Wei et al., "Learning with Noisy Labels Revisited: A Study Using Real-World Human
// Annotations", ICLR 2022.
var (
	cifar10N = newHuman(cifar10, "cifar10n", "CIFAR-10N", "aggre", "worse", "random1", "random2", "random3")

	cifar100N = newHuman(cifar100, "cifar100n", "CIFAR-100N", "noisy")
)

// newPacked returns a dataset with 10,000 test images whose files contain bare pixels.
func newPacked(name, title string, train, classes int, read func(fs.FS) (*datasets.Dataset, error),
	files []string) Preset {
	return Preset{
		Name: name, Title: title, Files: files, Default: Official, Packed: true, Corrects: name != "fashion-mnist",
		Protocols: newOfficial("training and test images of the same classes", count{datasets.Train, train, classes},
			count{datasets.Test, 10000, classes}),
		Read: func(fsys fs.FS, _ Options) ([]sample, error) {
			d, err := read(fsys)
			if err != nil {
				return nil, err
			}
			list := make([]sample, len(d.Samples))
			for i, s := range d.Samples {
				list[i] = sample{Path: s.Path, Class: s.Label, Label: d.Classes[s.Label], Split: s.Split}
			}
			return list, nil
		},
	}
}

// newHuman returns the dataset of with the given sets of human labels for its training images.
func newHuman(of Preset, name, title string, sets ...string) Preset {
	p := of
	p.Name, p.Title, p.Human = name, title+" (Wei et al. 2022) with "+of.Title, sets
	p.Files = append(slices.Clone(of.Files), name+".csv")
	p.Read = func(fsys fs.FS, opts Options) ([]sample, error) {
		samples, err := of.Read(fsys, opts)
		if err != nil {
			return nil, err
		}
		file := opts.Labels
		for _, ending := range []string{".csv.gz", ".csv"} {
			if file == nil && (hasFile(fsys, name+ending) || ending == ".csv") {
				data, err := fs.ReadFile(fsys, name+ending)
				if err != nil {
					return nil, err
				}
				file = &File{name + ending, data}
			}
		}
		table, err := readLabelTable(file.Data)
		if err == nil {
			err = giveHuman(samples, table, opts)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name, err)
		}
		return samples, nil
	}
	return p
}

// giveHuman checks the human labels against CIFAR's and assigns them to the training images; the old labels become the
// true labels.
func giveHuman(samples []sample, table map[string][]int, opts Options) error {
	digits := opts.Human[len(strings.TrimRight(opts.Human, "0123456789")):]
	column := strings.TrimSuffix(opts.Human, digits) + "_label" + digits // random1 is random_label1
	labels, known := table[column]
	if !known {
		return fmt.Errorf("found the label sets %.200s, expected %s among them",
			strings.Join(slices.Sorted(maps.Keys(table)), ", "), column)
	}
	names := make(map[int]string)
	var train []*sample
	for i := range samples {
		names[samples[i].Class] = samples[i].Label
		if samples[i].Split == datasets.Train {
			train = append(train, &samples[i])
		}
	}
	if len(labels) != len(train) {
		return fmt.Errorf("found %d labels, expected %d: one for each training image", len(labels), len(train))
	}
	clean, sure := table["clean_label"]
	wrong := 0
	for i, s := range train {
		if sure && clean[i] != s.Class {
			return fmt.Errorf("clean_label of image %d is %d, but CIFAR's label is %d: the images are in another "+
				"order", i, clean[i], s.Class)
		}
		name, ok := names[labels[i]]
		if !ok {
			return fmt.Errorf("label of image %d is %d, which is not a class", i, labels[i])
		}
		s.True, s.Label = s.Label, name
		if s.Class != labels[i] {
			wrong++
		}
	}
	rate := float64(wrong) / float64(max(1, len(train)))
	if !sure && rate > 0.5 {
		return fmt.Errorf("%.0f %% of the labels differ from CIFAR's, expected at most 50 %%: the images are in "+
			"another order", 100*rate)
	}
	opts.noteObservation("train: %d of %d labels differ from CIFAR's (%.2f %%), label set %s", wrong, len(train),
		100*rate, opts.Human)
	return nil
}

// readLabelTable reads label sets of the same images, by name, from a CSV file with a header, which may be compressed
// with gzip.
func readLabelTable(data []byte) (map[string][]int, error) {
	if bytes.HasPrefix(data, []byte("PK")) || bytes.HasPrefix(data, []byte("\x80\x02")) {
		return nil, fmt.Errorf("is a PyTorch file, expected CSV; to convert it: python3 -c \"import torch, pandas; " +
			"pandas.DataFrame(torch.load('CIFAR-10_human.pt', weights_only=False)).to_csv('cifar10n.csv', " +
			"index=False)\"")
	}
	if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		in, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if data, err = io.ReadAll(io.LimitReader(in, maxLabelFile+1)); err != nil || len(data) > maxLabelFile {
			return nil, fmt.Errorf("expected at most %d bytes unpacked: %w", maxLabelFile, err)
		}
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("expected a CSV header with the names of label sets: %w", err)
	}
	table := make(map[string][]int, len(rows[0]))
	for i, row := range rows[1:] {
		for k, text := range row {
			v, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				return nil, fmt.Errorf("row %d: %.80s: %w", i+2, rows[0][k], err)
			}
			table[rows[0][k]] = append(table[rows[0][k]], v)
		}
	}
	return table, nil
}
