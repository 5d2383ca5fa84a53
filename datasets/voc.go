package datasets

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// The folders of Pascal VOC's data sets.
const (
	vocAnnotations = "Annotations"
	vocImages      = "JPEGImages"
	vocLists       = "ImageSets/Main"
)

// vocColumns are stored for each object: its number in the file, from 1, and whether it is marked as hard to
// recognise.
var vocColumns = []string{"object", "difficult"}

// mostXML is the largest annotation file in bytes.
const mostXML = 16 << 20

type vocFile struct {
	XMLName xml.Name `xml:"annotation"`
	File    string   `xml:"filename"`
	Width   float64  `xml:"size>width"`
	Height  float64  `xml:"size>height"`
	Objects []struct {
		Name      string `xml:"name"`
		Difficult string `xml:"difficult"`
		Box       *struct {
			Left   float64 `xml:"xmin"` // pixels are counted from 1, and the last one belongs to the box
			Top    float64 `xml:"ymin"`
			Right  float64 `xml:"xmax"`
			Bottom float64 `xml:"ymax"`
		} `xml:"bndbox"`
	} `xml:"object"`
}

// readVOC reads the boxes of a Pascal VOC folder, each as a crop of its image. If ImageSets/Main lists train, val
// or test, images in none of them are left out.
func readVOC(ctx context.Context, fsys fs.FS, name, at string, opts ReadOptions) (*Dataset, error) {
	splits, err := vocSplits(fsys, path.Join(at, vocLists))
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	entries, err := fs.ReadDir(fsys, path.Join(at, vocAnnotations))
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	var rows []row
	unlisted, small := 0, 0
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		key, isXML := strings.CutSuffix(e.Name(), ".xml")
		if !isXML || e.IsDir() {
			continue
		}
		split, listed := splits[key]
		if len(splits) > 0 && !listed {
			unlisted++
			continue
		}
		file := path.Join(at, vocAnnotations, e.Name())
		few := 0
		if rows, few, err = opts.voc(rows, fsys, file, path.Join(at, vocImages), split); err != nil {
			return nil, fmt.Errorf("datasets: %s: %w", path.Join(name, file), err)
		}
		small += few
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("datasets: %s: no box found in the files %s/*.xml, expected at least one", name,
			vocAnnotations)
	}
	if opts.Note != nil {
		opts.Note("%s: read as Pascal VOC's boxes (winnow data import --format folders takes the folders' names); "+
			"left out %d images that %s does not list and %d boxes with a side below %d pixels",
			name, unlisted, vocLists, small, max(opts.MinBox, 1))
	}
	return build(rows, vocColumns), nil
}

// voc reads an annotation file.
func (o ReadOptions) voc(rows []row, fsys fs.FS, file, images, split string) (_ []row, small int, err error) {
	f, err := fsys.Open(file)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	var v vocFile
	if err := xml.NewDecoder(io.LimitReader(f, mostXML)).Decode(&v); err != nil {
		return nil, 0, err
	}
	base := path.Base(strings.ReplaceAll(strings.TrimSpace(v.File), `\`, "/"))
	for i, object := range v.Objects {
		picture, err := cleanPath(path.Join(images, base), "")
		if err == nil && (base == "." || base == "/") {
			err = errors.New("found no filename, expected that of the image")
		}
		if err == nil && (object.Box == nil || strings.TrimSpace(object.Name) == "") {
			err = errors.New("found no name or no bndbox, expected both")
		}
		if err != nil {
			return nil, 0, fmt.Errorf("object %d: %w", i+1, err)
		}
		b := object.Box
		c, large, err := o.crop([]float64{b.Left - 1, b.Top - 1, b.Right - b.Left + 1, b.Bottom - b.Top + 1}, v.Width,
			v.Height)
		if err == nil && !large {
			small++
			continue
		}
		id := fmt.Sprint(i + 1)
		if err == nil {
			rows, err = appendRow(rows, row{path: c.of(picture, id), label: strings.TrimSpace(object.Name),
				split: split, extra: []string{id, strings.TrimSpace(object.Difficult)}}, reading{ReadOptions: o})
		}
		if err != nil {
			return nil, 0, fmt.Errorf("object %d: %w", i+1, err)
		}
	}
	return rows, small, nil
}

// vocSplits reads the split of each image. An image in two splits is an error.
func vocSplits(fsys fs.FS, dir string) (map[string]string, error) {
	splits := map[string]string{}
	for file, split := range map[string]string{"train.txt": Train, "val.txt": Validation, "test.txt": Test} {
		text, err := fs.ReadFile(fsys, path.Join(dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if len(fields) == 0 {
				continue
			}
			if was, twice := splits[fields[0]]; twice && was != split {
				return nil, fmt.Errorf("%s: image %.80q is in two splits, expected one", dir, fields[0])
			}
			splits[fields[0]] = split
		}
	}
	return splits, nil
}

// isVOC reports whether the folders are Pascal VOC's.
func isVOC(tops []string) bool {
	return slices.Contains(tops, vocAnnotations) && slices.Contains(tops, vocImages)
}
