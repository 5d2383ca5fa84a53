package published

import (
	"fmt"
	"io/fs"

	"winnow/datasets"
	"winnow/datasets/cifar"
)

// cifar10N and cifar100N are CIFAR with labels that people gave the training images: the given label is a person's,
// the true label is CIFAR's. The folder is CIFAR's; the label file is in it or is named separately.
//
// CIFAR-10N has five sets: three people labelled each image (random1, random2, random3); aggre is their majority;
// worse is a wrong one of the three if there is one. The images must be in the order of CIFAR's batches, which is
// checked with the set clean_label.
// Source: Wei et al., "Learning with Noisy Labels Revisited: A Study Using Real-World Human Annotations", ICLR 2022.
var cifar10N = Preset{
	Name: "cifar10n", Title: "CIFAR-10N (Wei et al. 2022) with CIFAR-10's binary version",
	Files: []string{"data_batch_1.bin", "CIFAR-10_human.pt"}, Protocols: sixtyThousand(50000, 10), Default: Official,
	Human: []string{"aggre", "worse", "random1", "random2", "random3"}, Corrects: true, Packed: true,
	Read: func(fsys fs.FS, opts Options) ([]sample, error) {
		return readHuman(
			fsys,
			opts,
			newWholeReader(cifar.Read10),
			"CIFAR-10_human.pt",
			"cifar10n.csv.gz",
			"cifar10n.csv",
			"cifar10n.npy",
		)
	},
}

var cifar100N = Preset{
	Name: "cifar100n", Title: "CIFAR-100N (Wei et al. 2022) with CIFAR-100's binary version",
	Files: []string{"train.bin", "CIFAR-100_human.pt"}, Protocols: sixtyThousand(50000, 100), Default: Official,
	Columns: []string{"coarse"}, Human: []string{"noisy"}, Corrects: true, Packed: true,
	Read: func(fsys fs.FS, opts Options) ([]sample, error) {
		return readHuman(
			fsys,
			opts,
			newWholeReader(cifar.Read100),
			"CIFAR-100_human.pt",
			"cifar100n.csv.gz",
			"cifar100n.csv",
			"cifar100n.npy",
		)
	},
}

// readHuman reads CIFAR and replaces the training images' labels by the human ones; the old labels become the true
// ones.
func readHuman(fsys fs.FS, opts Options, read func(fs.FS, Options) ([]sample, error),
	files ...string) ([]sample, error) {
	samples, err := read(fsys, opts)
	if err != nil {
		return nil, err
	}
	file, err := findLabels(fsys, opts, files...)
	if err != nil {
		return nil, err
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

// giveHuman checks the labels against CIFAR's and assigns them to the training images.
func giveHuman(samples []sample, table labelTable, opts Options) error {
	labels, err := table.labelSet(opts.Human)
	if err != nil {
		return err
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
			return fmt.Errorf("clean_label of image %d is %d, CIFAR says %d: the images are in another order", i,
				clean[i], s.Class)
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
		return fmt.Errorf("%.0f %% of the labels differ from CIFAR's, expected below half: the images are in "+
			"another order", 100*rate)
	}
	opts.noteObservation(
		"train: %d of %d labels are not CIFAR's (%.2f %%), label set %s",
		wrong,
		len(train),
		100*rate,
		opts.Human,
	)
	return nil
}
