package published

import (
	"encoding/json"
	"fmt"
	"io/fs"

	"winnow/datasets"
	"winnow/internal/jsontext"
)

// iNat2017 and iNat2018 are the data of the iNaturalist competitions: train2017.json and val2017.json next to the
// images, which are where the lists say (train_val_images/ in 2017, train_val2018/ in 2018). The labels of the test
// images were never published, so the validation images are the test split. A class has its category's name,
// followed by its number if two categories share a name; in 2018 the names are numbers, as published. The column
// supercategory is the category's.
//
// Source: Van Horn et al., "The iNaturalist species classification and detection dataset", CVPR 2018, and the
// competitions' pages.
var (
	iNat2017 = iNaturalist("2017", []count{{datasets.Train, 579184, 5089}, {datasets.Test, 95986, 5089}})
	iNat2018 = iNaturalist("2018", []count{{datasets.Train, 437513, 8142}, {datasets.Test, 24426, 8142}})
)

func iNaturalist(year string, counts []count) Preset {
	train, val := "train"+year+".json", "val"+year+".json"
	return Preset{
		Name: "inat" + year, Title: "iNaturalist " + year + " (Van Horn et al. 2018)",
		Files: []string{train, val}, Default: Official, Columns: []string{"supercategory"},
		Protocols: map[string]Protocol{Official: {Note: "the training images train, the validation images test",
			Counts: counts}},
		Read: func(fsys fs.FS, _ Options) ([]sample, error) {
			samples, err := readINat(fsys, train, datasets.Train)
			if err != nil {
				return nil, err
			}
			more, err := readINat(fsys, val, datasets.Test)
			return append(samples, more...), err
		},
	}
}

// inatExpected describes the expected file.
const inatExpected = "an object with the lists images, annotations and categories"

type (
	inatImage struct {
		ID   *int   `json:"id"`
		File string `json:"file_name"`
	}
	inatAnnotation struct {
		Image    *int `json:"image_id"`
		Category *int `json:"category_id"`
	}
	inatCategory struct {
		ID    *int   `json:"id"`
		Name  string `json:"name"`
		Super string `json:"supercategory"`
	}
)

// inat is what is kept of a file while it is read: the path of an image, two numbers of an annotation, the names of
// a category.
type inat struct {
	split      string
	samples    []sample
	images     map[int]int // id → sample
	labelled   [][2]int    // image, category
	categories map[int]inatCategory
	named      map[string]int // how many categories have a name
}

// readINat reads a file element by element, with its lists in any order.
func readINat(fsys fs.FS, name, split string) ([]sample, error) {
	f, _, err := openList(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list := inat{split: split, images: map[int]int{}, categories: map[int]inatCategory{}, named: map[string]int{}}
	in := json.NewDecoder(f)
	var other json.RawMessage
	err = jsontext.Each(in, inatExpected, func(key string, _ int) error {
		switch key {
		case "images":
			return list.readINatImage(in)
		case "annotations":
			return list.readINatAnnotation(in)
		case "categories":
			return list.readINatCategory(in)
		}
		return in.Decode(&other)
	})
	if err == nil {
		err = list.labelImages()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list.samples, nil
}

func (l *inat) readINatImage(in *json.Decoder) error {
	var m inatImage
	if err := in.Decode(&m); err != nil {
		return err
	}
	if m.ID == nil || m.File == "" {
		return fmt.Errorf("found no id or no file_name, expected both")
	}
	if _, twice := l.images[*m.ID]; twice {
		return fmt.Errorf("id %d appears twice", *m.ID)
	}
	l.images[*m.ID] = len(l.samples)
	l.samples = append(l.samples, sample{Path: m.File, Split: l.split})
	return inRoot(m.File)
}

func (l *inat) readINatAnnotation(in *json.Decoder) error {
	var a inatAnnotation
	if err := in.Decode(&a); err != nil {
		return err
	}
	if a.Image == nil || a.Category == nil {
		return fmt.Errorf("found no image_id or no category_id, expected both")
	}
	l.labelled = append(l.labelled, [2]int{*a.Image, *a.Category})
	return nil
}

func (l *inat) readINatCategory(in *json.Decoder) error {
	var c inatCategory
	if err := in.Decode(&c); err != nil {
		return err
	}
	if c.ID == nil || c.Name == "" {
		return fmt.Errorf("found no id or no name, expected both")
	}
	if _, twice := l.categories[*c.ID]; twice {
		return fmt.Errorf("id %d appears twice", *c.ID)
	}
	l.categories[*c.ID] = c
	l.named[c.Name]++
	return nil
}

// labelImages gives each image the category of its only annotation.
func (l *inat) labelImages() error {
	for i, a := range l.labelled {
		at, known := l.images[a[0]]
		c, named := l.categories[a[1]]
		switch {
		case !known:
			return fmt.Errorf("annotations[%d]: image_id %d is not among the %d images", i, a[0], len(l.images))
		case !named:
			return fmt.Errorf("annotations[%d]: category_id %d is not among the %d categories", i, a[1],
				len(l.categories))
		case l.samples[at].Label != "":
			return fmt.Errorf("annotations[%d]: image_id %d is annotated twice, expected one category an image", i,
				a[0])
		}
		s := &l.samples[at]
		s.Class, s.Label, s.Extra = a[1], c.Name, []string{c.Super}
		if l.named[c.Name] > 1 {
			s.Label = fmt.Sprintf("%s (%d)", c.Name, a[1])
		}
	}
	for _, s := range l.samples {
		if s.Label == "" {
			return fmt.Errorf("found no annotation of the image %s, expected one: lists of test images have none",
				s.Path)
		}
	}
	return nil
}
