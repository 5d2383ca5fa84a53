package datasets

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// personFolders are the folders of Market-1501, DukeMTMC-reID and VeRi-776, and their splits.
var personFolders = map[string]string{"bounding_box_train": Train, "query": Query, "bounding_box_test": Gallery,
	"image_train": Train, "image_query": Query, "image_test": Gallery}

// personName is how these data sets name pictures: the person (or car), then the camera; -1 is nobody's picture.
var personName = regexp.MustCompile(`^(-1|[0-9]+)_(c[0-9]+)`)

// readPersons reads the pictures of persons seen by several cameras, whose names begin with the person's number and the
// camera: 0002_c1s1_000451_03.jpg. They are in the published folders, or all directly in one. It returns nil if the
// folder is of another form. Numbers without a person (-1, 0000) are left out.
// Source: Zheng et al., "Scalable Person Re-identification: A Benchmark", ICCV 2015 (the names of Market-1501).
func (t *listing) readPersons(name, at, split string) (*Dataset, error) {
	tops, loose := t.listTopFolders(at)
	isPublished := func(top string) bool { return personFolders[top] != "" && top != "query" }
	published := slices.ContainsFunc(tops, isPublished)
	if !published && (loose == 0 || len(tops) > 0) {
		return nil, nil
	}
	var rows []row
	var odd []string
	left := map[Left]int{}
	for _, p := range t.images {
		rest, ok := cutFolder(p, at)
		top, below, deep := strings.Cut(rest, "/")
		found := personName.FindStringSubmatch(path.Base(p))
		if !published {
			if !ok || found == nil {
				return nil, nil
			}
		} else if !ok || !deep || personFolders[top] == "" {
			left[Left{Reason: "in no split", Of: "pictures in " + top}]++
			continue
		} else if split = personFolders[top]; found == nil || strings.Contains(below, "/") {
			if odd = append(odd, p); 2*len(odd) > len(t.images) {
				return nil, fmt.Errorf("datasets: %s: found %s, expected the names of Market-1501, such as "+
					"0002_c1s1_000451_03.jpg, in a folder %s: give a list with the columns path and label", name,
					odd[0], strings.Split(odd[0], "/")[strings.Count(path.Join(at, "x"), "/")])
			}
			left[Left{Reason: "named in another way", Of: "pictures"}]++
			continue
		}
		if found[1] == "-1" || strings.Trim(found[1], "0") == "" {
			left[Left{Reason: "nobody: the number " + found[1], Of: "pictures"}]++
			continue
		}
		rows = append(rows, row{path: p, label: found[1], split: split, extra: []string{found[2]}})
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("datasets: %s: found only pictures of nobody (-1 or 0000), expected some of persons",
			name)
	}
	d := buildDataset(rows, []string{"camera"})
	d.Reading = t.describeListing("persons by the names of Market-1501", at, d.Classes)
	d.Reading.Left = append(countReasons(left), d.Reading.Left...)
	return d, nil
}

// nameLists names the first files of a folder that may list its labels.
func (t *listing) nameLists() string {
	var found []string
	for _, p := range t.others {
		if slices.Contains([]string{".csv", ".tsv", ".jsonl", ".json", ".txt", ".xml", ".xlsx"},
			strings.ToLower(path.Ext(p))) {
			head, err := headOf(t.fsys, p, headSize)
			if what := otherDocument(head); err == nil && what != "" {
				return ". " + p + " is " + what
			}
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return ", or give the list that holds its labels, if that is " + strings.Join(found[:min(len(found), 3)], " or ")
}
