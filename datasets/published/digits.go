package published

import (
	"fmt"
	"io/fs"
	"strconv"

	"winnow/datasets"
	"winnow/datasets/cifar"
	"winnow/datasets/mnist"
)

var mnistFiles = []string{"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz",
	"t10k-labels-idx1-ubyte.gz"}

// mnistDigits is MNIST. Source: LeCun, Cortes, Burges, "The MNIST database of handwritten digits".
var mnistDigits = Preset{
	Name: "mnist", Title: "MNIST (LeCun, Cortes, Burges)", Files: mnistFiles,
	Protocols: sixtyThousand(
		60000,
		10,
	), Default: Official, Packed: true, Corrects: true, Read: newWholeReader(mnist.Read),
}

// fashionMNIST has MNIST's file names. Source: Xiao, Rasul, Vollgraf, "Fashion-MNIST", 2017.
var fashionMNIST = Preset{
	Name: "fashion-mnist", Title: "Fashion-MNIST (Xiao et al. 2017)", Files: mnistFiles,
	Protocols: sixtyThousand(60000, 10), Default: Official, Packed: true, Read: newWholeReader(mnist.Read),
}

// cifar10 is CIFAR-10 in its binary version. Source: Krizhevsky 2009.
var cifar10 = Preset{
	Name: "cifar10", Title: "CIFAR-10, binary version (Krizhevsky 2009)",
	Files: []string{"data_batch_1.bin", "test_batch.bin"},
	Protocols: sixtyThousand(
		50000,
		10,
	), Default: Official, Packed: true, Corrects: true, Read: newWholeReader(cifar.Read10),
}

// cifar100 is CIFAR-100 in its binary version with the fine labels or, by the protocol coarse, with the 20
// superclasses; the other labels are a column. Source: Krizhevsky 2009.
var cifar100 = Preset{
	Name: "cifar100", Title: "CIFAR-100, binary version (Krizhevsky 2009)", Files: []string{"train.bin", "test.bin"},
	Default: Official, Packed: true, Corrects: true, Columns: []string{"coarse", "fine"}, Read: readCIFAR100,
	Protocols: map[string]Protocol{
		Official: sixtyThousand(50000, 100)[Official],
		Coarse: {
			Note:   "the official split, labelled by the 20 superclasses",
			Counts: []count{{datasets.Train, 50000, 20}, {datasets.Test, 10000, 20}},
		},
	},
}

// readCIFAR100 reads the images with the labels of the protocol.
func readCIFAR100(fsys fs.FS, opts Options) ([]sample, error) {
	samples, err := newWholeReader(cifar.Read100)(fsys, opts)
	if err != nil {
		return nil, err
	}
	if opts.Protocol == Coarse && opts.Corrected != nil {
		return nil, fmt.Errorf("%s: found corrected labels with the protocol %s, expected the protocol %s: they "+
			"are for the fine classes", opts.Corrected.Name, Coarse, Official)
	}
	names := cifar.CoarseNames(fsys)
	for i := range samples {
		s := &samples[i]
		if opts.Protocol != Coarse {
			s.Extra = append(s.Extra, "")
			continue
		}
		coarse, err := strconv.Atoi(s.Extra[0])
		if err != nil || coarse >= len(names) {
			return nil, fmt.Errorf("%s has the coarse label %s, expected 0 to %d", s.Path, s.Extra[0], len(names)-1)
		}
		s.Class, s.Label, s.Extra = coarse, names[coarse], []string{"", s.Label}
	}
	return samples, nil
}

// sixtyThousand returns the official split of the sets with 10,000 test images.
func sixtyThousand(train, classes int) map[string]Protocol {
	return map[string]Protocol{Official: {
		Note:   "training and test images of the same classes",
		Counts: []count{{datasets.Train, train, classes}, {datasets.Test, 10000, classes}},
	}}
}

// newWholeReader returns the reader of a dataset that has its own package, which splits it officially.
func newWholeReader(read func(fs.FS) (*datasets.Dataset, error)) func(fs.FS, Options) ([]sample, error) {
	return func(fsys fs.FS, _ Options) ([]sample, error) {
		d, err := read(fsys)
		if err != nil {
			return nil, err
		}
		list := make([]sample, len(d.Samples))
		for i, s := range d.Samples {
			list[i] = sample{Path: s.Path, Class: s.Label, Label: d.Classes[s.Label], Split: s.Split, Extra: s.Extra}
		}
		return list, nil
	}
}
