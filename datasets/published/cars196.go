package published

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"winnow/datasets"
	"winnow/datasets/matfile"
)

// cars196 is Stanford Cars in any of the three forms in which it is distributed:
//
//   - car_ims/ with cars_annos.mat;
//   - cars_train/ and cars_test/ with the devkit's cars_meta.mat, cars_train_annos.mat and
//     cars_test_annos_withlabels.mat (in devkit/, car_devkit/devkit/ or beside them);
//   - a folder per class, perhaps below train/ and test/, or below images/.
//
// Classes are numbered in the order of their names as folders ("/" becomes "-"), as in PRISM's released lists. The
// devkit's own numbers differ. Classes 1-98 are the same either way, but by the devkit's numbers 99-147 would hold
// 4,058 images instead of 4,059. Bounding boxes become columns as published (pixels from 1: left, top, right,
// bottom).
//
// Source: Krause et al., "3D object representations for fine-grained categorization", 3DRR 2013. PRISM speaks of 98
// + 48 + 48 classes, which is 194 of 196: prism adds the other two to validation and test, prism-literal leaves
// them out.
var cars196 = Preset{
	Name: "cars196", Title: "Stanford Cars (Krause et al. 2013)",
	Files:   []string{"cars_annos.mat", "devkit/cars_meta.mat", firstCar, "train/" + firstCar, "images/" + firstCar},
	Default: half, Columns: boxCorners, Read: readCars,
	Protocols: map[string]Protocol{
		half: {
			Note:   "classes 1-98 train, 99-196 test",
			Ranges: []Range{{datasets.Train, 1, 98}, {datasets.Test, 99, 196}},
			Counts: []count{{datasets.Train, 8054, 98}, {datasets.Test, 8131, 98}},
		},
		prism: {
			Note:   "classes 1-98 train, 99-147 validate, 148-196 test",
			Ranges: []Range{{datasets.Train, 1, 98}, {datasets.Validation, 99, 147}, {datasets.Test, 148, 196}},
			Counts: []count{{datasets.Train, 8054, 98}, {datasets.Validation, 4059, 49}, {datasets.Test, 4072, 49}},
		},
		"prism-literal": {
			Note:   "classes 1-98 train, 99-146 validate, 147-194 test",
			Ranges: []Range{{datasets.Train, 1, 98}, {datasets.Validation, 99, 146}, {datasets.Test, 147, 194}},
			Counts: []count{{datasets.Train, 8054, 98}, {datasets.Validation, 3970, 48}, {datasets.Test, 3995, 48}},
		},
		Official: {
			Note:   "training and test images of the same classes",
			Counts: []count{{datasets.Train, 8144, 196}, {datasets.Test, 8041, 196}},
		},
	},
}

// firstCar is the folder of class 1.
const firstCar = "AM General Hummer SUV 2000"

var boxCorners = []string{"bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2"}

func readCars(fsys fs.FS, _ Options) ([]sample, error) {
	if hasFile(fsys, "cars_annos.mat") {
		return readCarAnnos(fsys)
	}
	for _, dir := range []string{"devkit", "car_devkit/devkit", "."} {
		if hasFile(fsys, path.Join(dir, "cars_train_annos.mat")) {
			return readCarDevkit(fsys, dir)
		}
	}
	for _, dir := range []string{".", "images"} {
		if hasFile(fsys, path.Join(dir, firstCar)) || hasFile(fsys, path.Join(dir, "train", firstCar)) {
			return readCarFolders(fsys, dir)
		}
	}
	return nil, refuseMissingFiles("cars_annos.mat", "devkit/cars_train_annos.mat", "folder "+firstCar)
}

// readCarAnnos reads the file that lists all images.
func readCarAnnos(fsys fs.FS) ([]sample, error) {
	const name = "cars_annos.mat"
	list, err := matfile.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	classes, err := carClasses(name, matfile.Find(list, "class_names"))
	if err != nil {
		return nil, err
	}
	annos, err := carStruct(name, matfile.Find(list, "annotations"), "relative_im_path", "class", "test")
	if err != nil {
		return nil, err
	}
	samples := make([]sample, annos.Len())
	for i := range samples {
		testing, err := readOnlyInteger(annos.Field(i, "test"), 0, 1)
		if err != nil {
			return nil, fmt.Errorf("%s: annotation %d: test: %w", name, i+1, err)
		}
		split := [2]string{datasets.Train, datasets.Test}[testing]
		if samples[i], err = classes.newCarSample(annos, i, "", "relative_im_path", split); err != nil {
			return nil, fmt.Errorf("%s: annotation %d: %w", name, i+1, err)
		}
	}
	return samples, nil
}

// readCarDevkit reads the devkit's two lists of the images below cars_train and cars_test.
func readCarDevkit(fsys fs.FS, dir string) ([]sample, error) {
	meta := path.Join(dir, "cars_meta.mat")
	if !hasFile(fsys, meta) {
		return nil, refuseMissingFiles(meta)
	}
	list, err := matfile.ReadFile(fsys, meta)
	if err != nil {
		return nil, err
	}
	classes, err := carClasses(meta, matfile.Find(list, "class_names"))
	if err != nil {
		return nil, err
	}
	samples, err := classes.readCarSamples(fsys, path.Join(dir, "cars_train_annos.mat"), "cars_train", datasets.Train)
	if err != nil {
		return nil, err
	}
	const labelled = "cars_test_annos_withlabels.mat" // published later, separately
	test := path.Join(dir, labelled)
	if !hasFile(fsys, test) {
		test = labelled
	}
	if !hasFile(fsys, test) {
		return nil, fmt.Errorf("%w (cars_test_annos.mat holds no labels)", refuseMissingFiles(path.Join(dir, labelled)))
	}
	more, err := classes.readCarSamples(fsys, test, "cars_test", datasets.Test)
	if err != nil {
		return nil, err
	}
	samples = append(samples, more...)
	knownCars(samples)
	return samples, nil
}

// knownCars distinguishes images of a class that have the same name in the official training and test set. In
// PRISM's lists, which have both in the class folder, the test image has "_2" after its number.
func knownCars(samples []sample) {
	training := make(map[string]bool)
	for _, s := range samples {
		if s.Split != datasets.Test {
			training[s.Known] = true
		}
	}
	for i := range samples {
		if s := &samples[i]; s.Split == datasets.Test && training[s.Known] {
			end := path.Ext(s.Known)
			s.Known = strings.TrimSuffix(s.Known, end) + "_2" + end
		}
	}
}

func (c carNames) readCarSamples(fsys fs.FS, name, folder, split string) ([]sample, error) {
	list, err := matfile.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	annos, err := carStruct(name, matfile.Find(list, "annotations"), "fname", "class")
	if err != nil {
		return nil, err
	}
	samples := make([]sample, annos.Len())
	for i := range samples {
		if samples[i], err = c.newCarSample(annos, i, folder, "fname", split); err != nil {
			return nil, fmt.Errorf("%s: annotation %d: %w", name, i+1, err)
		}
	}
	return samples, nil
}

// readCarFolders reads one folder per class; those below train/ and test/ have the official split.
func readCarFolders(fsys fs.FS, dir string) ([]sample, error) {
	sub, err := fs.Sub(fsys, dir)
	if err != nil {
		return nil, err
	}
	d, err := datasets.ReadFolders(sub, dir, datasets.ReadOptions{})
	if err != nil {
		return nil, err
	}
	split := hasFile(sub, "train")
	samples := make([]sample, len(d.Samples))
	for i, s := range d.Samples {
		samples[i] = sample{Path: path.Join(dir, s.Path), Known: identifyFile(s.Path, ""), Class: s.Label + 1,
			Label: d.Classes[s.Label], Extra: make([]string, len(boxCorners))}
		if split {
			samples[i].Split = s.Split
		}
	}
	knownCars(samples)
	return samples, nil
}
