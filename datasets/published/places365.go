package published

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"winnow/datasets"
)

// placesClasses is the list of scenes.
const placesClasses = "categories_places365.txt"

// places365 is Places365-Standard: the lists of its file list archive, and its images as they unpack, small
// (data_256, val_256) or large (data_large, val_large); if both exist, the small ones. The labels of its test
// images were never published, so its validation images are the test split.
//
// Source: Zhou et al., "Places: a 10 million image database for scene recognition", TPAMI 2018.
var places365 = Preset{
	Name: "places365", Title: "Places365-Standard (Zhou et al. 2018)",
	Files:   []string{"places365_train_standard.txt", "places365_val.txt", placesClasses},
	Default: Official, Read: readPlaces,
	Protocols: map[string]Protocol{
		Official: {
			Note:   "the training images train, the validation images test",
			Counts: []count{{datasets.Train, 1803460, 365}, {datasets.Test, 36500, 365}},
		},
	},
}

// readPlaces reads the lists, with lines such as "/a/airfield/00000001.jpg 0" and "Places365_val_00000001.jpg 165".
func readPlaces(fsys fs.FS, _ Options) ([]sample, error) {
	names, err := placesNames(fsys)
	if err != nil {
		return nil, err
	}
	var samples []sample
	for _, part := range []struct {
		list, split string
		folders     []string
	}{
		{"places365_train_standard.txt", datasets.Train,
			[]string{"data_256", "data_256_standard", "data_large", "data_large_standard"}},
		{"places365_val.txt", datasets.Test, []string{"val_256", "val_large"}},
	} {
		folder := part.folders[0]
		for i := len(part.folders) - 1; i >= 0; i-- {
			if isFolder(fsys, part.folders[i]) {
				folder = part.folders[i]
			}
		}
		err := eachLine(fsys, func(_ int, line string) error {
			image, class, err := placesLine(line)
			if err != nil {
				return err
			}
			name, ok := names[class]
			if !ok {
				return fmt.Errorf("class %d is not in %s", class, placesClasses)
			}
			image = strings.TrimPrefix(image, "/")
			if err := inRoot(image); err != nil {
				return err
			}
			samples = append(samples, sample{Path: path.Join(folder, image), Class: class, Label: name,
				Split: part.split})
			return nil
		}, part.list)
		if err != nil {
			return nil, err
		}
	}
	return samples, nil
}

// placesNames reads the class names, from lines such as "/a/apartment_building/outdoor 8", without the folder of
// their first letter.
func placesNames(fsys fs.FS) (map[int]string, error) {
	names, numbers := make(map[int]string), make(map[string]int)
	err := eachLine(fsys, func(_ int, line string) error {
		text, class, err := placesLine(line)
		if err != nil {
			return err
		}
		_, name, ok := strings.Cut(strings.TrimPrefix(text, "/"), "/")
		if !ok || name == "" {
			return fmt.Errorf("category %.80q is not of the form /a/airfield", text)
		}
		_, twice := names[class]
		if _, also := numbers[name]; twice || also {
			return fmt.Errorf("category %.80q or its number %d appears twice", text, class)
		}
		names[class], numbers[name] = name, class
		return nil
	}, placesClasses)
	return names, err
}

// placesLine splits a line into a text and, after a blank, a number from 0.
func placesLine(line string) (string, int, error) {
	at := strings.LastIndexByte(line, ' ')
	if at < 1 {
		return "", 0, fmt.Errorf("found %.80q, expected a path, a blank and the number of a class", line)
	}
	class, err := strconv.Atoi(line[at+1:])
	if err != nil || class < 0 {
		return "", 0, fmt.Errorf("class %.80q is not a number from 0", line[at+1:])
	}
	return line[:at], class, nil
}
