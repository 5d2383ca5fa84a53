package published

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"winnow/datasets"
)

// sop is Stanford Online Products: images of articles on sale, one class per article, 2 to 12 images each.
// Ebay_train.txt holds the classes 1 to 11,318, Ebay_test.txt the others; PRISM's lists have the same numbers.
//
// PRISM speaks of 50 %, 25 % and 25 % of the classes, and its released training lists hold the 11,318 of the usual
// half. Here validation and test are the halves of the other 11,316, in the order of their numbers; their counts
// are those of PRISM's SOP_test.csv divided in this way.
// Source: Song et al., "Deep Metric Learning via Lifted Structured Feature Embedding", CVPR 2016.
var sop = Preset{
	Name: "sop", Title: "Stanford Online Products (Song et al. 2016)",
	Files:   []string{"Ebay_train.txt", "Ebay_test.txt"},
	Default: Official, Columns: []string{"super_class"}, Read: readSOP,
	Protocols: map[string]Protocol{
		Official: {Note: "the publisher's halves", Counts: sopHalves()},
		half: {Note: "the first 11,318 classes train, the other 11,316 test",
			Ranges: []Range{{datasets.Train, 1, 11318}, {datasets.Test, 11319, 22634}}, Counts: sopHalves()},
		prism: {Note: "the first 11,318 classes train; 5,658 validate and 5,658 test, in the order of their numbers",
			Ranges: []Range{{datasets.Train, 1, 11318}, {datasets.Validation, 11319, 16976},
				{datasets.Test, 16977, 22634}},
			Counts: []count{{datasets.Train, 59551, 11318}, {datasets.Validation, 32736, 5658},
				{datasets.Test, 27766, 5658}}},
	},
}

func sopHalves() []count {
	return []count{{datasets.Train, 59551, 11318}, {datasets.Test, 60502, 11316}}
}

// sopHeader is the first line of both lists.
const sopHeader = "image_id class_id super_class_id path"

// readSOP reads the two lists. The super class is from the folder's name, "bicycle" of bicycle_final.
func readSOP(fsys fs.FS, _ Options) ([]sample, error) {
	var samples []sample
	for _, part := range []struct{ name, split string }{{"Ebay_train.txt", datasets.Train},
		{"Ebay_test.txt", datasets.Test}} {
		err := eachLine(fsys, func(number int, line string) error {
			fields := strings.Fields(line)
			if number == 1 {
				if strings.Join(fields, " ") != sopHeader {
					return fmt.Errorf("header is %.80q, expected %q", line, sopHeader)
				}
				return nil
			}
			if len(fields) != 4 {
				return fmt.Errorf("found %d fields, expected 4: %s", len(fields), sopHeader)
			}
			class, err := strconv.Atoi(fields[1])
			if err != nil || class < 1 {
				return fmt.Errorf("class_id %.80q is not a number from 1", fields[1])
			}
			if err := inRoot(fields[3]); err != nil {
				return err
			}
			folder, _, _ := strings.Cut(fields[3], "/")
			samples = append(samples, sample{Path: fields[3], Class: class, Label: strconv.Itoa(class),
				Split: part.split,
				Extra: []string{strings.TrimSuffix(folder, "_final")}})
			return nil
		}, part.name)
		if err != nil {
			return nil, err
		}
	}
	return samples, nil
}
