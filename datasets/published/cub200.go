package published

import (
	"errors"
	"fmt"
	"io/fs"

	"winnow/datasets"
)

// cub200 is CUB-200-2011 as its archive unpacks: lists of "id value" lines next to images/. Bounding boxes, if
// present, become columns as published (pixels: left, top, width, height). Only the official split needs
// train_test_split.txt.
//
// Source: Wah et al., "The Caltech-UCSD Birds-200-2011 Dataset", 2011; PRISM's split: METHODS of Liu et al., "Noise-
// resistant deep metric learning with ranking-based instance selection", CVPR 2021, and its released lists.
var cub200 = Preset{
	Name: "cub200", Title: "CUB-200-2011 (Wah et al. 2011)",
	Files:   []string{"images.txt", "image_class_labels.txt", "classes.txt", "train_test_split.txt", "images"},
	Default: half, Columns: []string{"bbox_x", "bbox_y", "bbox_width", "bbox_height"}, Read: readCUB,
	Protocols: map[string]Protocol{
		half: {
			Note:   "classes 1-100 train, 101-200 test",
			Ranges: []Range{{datasets.Train, 1, 100}, {datasets.Test, 101, 200}},
			Counts: []count{{datasets.Train, 5864, 100}, {datasets.Test, 5924, 100}},
		},
		prism: {
			Note:   "classes 1-100 train, 101-150 validate, 151-200 test",
			Ranges: []Range{{datasets.Train, 1, 100}, {datasets.Validation, 101, 150}, {datasets.Test, 151, 200}},
			Counts: []count{{datasets.Train, 5864, 100}, {datasets.Validation, 2958, 50}, {datasets.Test, 2966, 50}},
		},
		Official: {
			Note:   "training and test images of the same classes",
			Counts: []count{{datasets.Train, 5994, 200}, {datasets.Test, 5794, 200}},
		},
	},
}

func readCUB(fsys fs.FS, opts Options) ([]sample, error) {
	images, err := readTable(fsys, "images.txt", 1)
	if err != nil {
		return nil, err
	}
	classes, err := readTable(fsys, "image_class_labels.txt", 1)
	if err != nil {
		return nil, err
	}
	names, err := readTable(fsys, "classes.txt", 1)
	if err != nil {
		return nil, err
	}
	splits := &table{}
	if opts.Protocol == Official {
		if splits, err = readTable(fsys, "train_test_split.txt", 1); err != nil {
			return nil, err
		}
	}
	boxes, err := readTable(fsys, "bounding_boxes.txt", 4)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	list := make([]sample, 0, len(images.ids))
	for _, id := range images.ids {
		s := sample{Path: "images/" + images.rows[id][0]}
		if !fs.ValidPath(s.Path) {
			return nil, fmt.Errorf("images.txt: image %d has the path %.80q, expected one below images/", id,
				images.rows[id][0])
		}
		if s.Class, err = classes.readIntegerOfID(id, 1, 1<<30); err != nil {
			return nil, err
		}
		if s.Label, err = names.readTextOfID(s.Class); err != nil {
			return nil, err
		}
		if opts.Protocol == Official {
			training, err := splits.readIntegerOfID(id, 0, 1)
			if err != nil {
				return nil, err
			}
			s.Split = [2]string{datasets.Test, datasets.Train}[training]
		}
		s.Extra = make([]string, 4)
		if boxes != nil {
			copy(s.Extra, boxes.rows[id])
		}
		list = append(list, s)
	}
	return list, nil
}
