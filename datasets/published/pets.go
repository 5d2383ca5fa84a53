package published

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"winnow/datasets"
)

// pets is the Oxford-IIIT Pet Dataset: images/ and annotations/ as its two archives unpack. The list trainval.txt
// is the training split and test.txt the test split; list.txt holds the lines of both. A class has the name in its
// images' file names: Abyssinian_100.jpg is an Abyssinian. The column species is cat or dog.
//
// Source: Parkhi et al., "Cats and Dogs", CVPR 2012; counts are those of the published lists.
var pets = Preset{
	Name: "pets", Title: "Oxford-IIIT Pets (Parkhi et al. 2012)",
	Files:   []string{"annotations/trainval.txt", "annotations/test.txt", "images"},
	Default: Official, Columns: []string{"species"}, Read: readPets,
	Protocols: map[string]Protocol{
		Official: {
			Note:   "training and test images of the same classes, about 100 and 100 of each",
			Counts: []count{{datasets.Train, 3680, 37}, {datasets.Test, 3669, 37}},
		},
	},
}

// readPets reads the two lists: image, class, species and breed per line. Each class has one name, and each name
// one class.
func readPets(fsys fs.FS, _ Options) ([]sample, error) {
	var samples []sample
	names, numbers := make(map[int]string), make(map[string]int)
	for _, part := range []struct{ name, split string }{{"annotations/trainval.txt", datasets.Train},
		{"annotations/test.txt", datasets.Test}} {
		err := eachLine(fsys, func(_ int, line string) error {
			if strings.HasPrefix(line, "#") {
				return nil
			}
			s, err := petSample(line)
			if err != nil {
				return err
			}
			name, named := names[s.Class]
			number, numbered := numbers[s.Label]
			if named && name != s.Label || numbered && number != s.Class {
				return fmt.Errorf("class %d is named %.80q, expected one name for each class and one class for "+
					"each name", s.Class, s.Label)
			}
			names[s.Class], numbers[s.Label], s.Split = s.Label, s.Class, part.split
			samples = append(samples, s)
			return nil
		}, part.name)
		if err != nil {
			return nil, err
		}
	}
	return samples, nil
}

// petSample parses a line such as "Abyssinian_100 1 1 1".
func petSample(line string) (sample, error) {
	fields := strings.Fields(line)
	if len(fields) != 4 {
		return sample{}, fmt.Errorf("found %d fields, expected 4: image, class, species and breed", len(fields))
	}
	class, err := strconv.Atoi(fields[1])
	if err != nil || class < 1 {
		return sample{}, fmt.Errorf("class %.80q is not a number from 1", fields[1])
	}
	species, ok := map[string]string{"1": "cat", "2": "dog"}[fields[2]]
	if !ok {
		return sample{}, fmt.Errorf("species is %.80q, expected 1 (cat) or 2 (dog)", fields[2])
	}
	at := strings.LastIndexByte(fields[0], '_')
	if at < 1 {
		return sample{}, fmt.Errorf("image %.80q is not of the form Abyssinian_100", fields[0])
	}
	s := sample{Path: "images/" + fields[0] + ".jpg", Class: class, Label: fields[0][:at], Extra: []string{species}}
	return s, inRoot(s.Path)
}
