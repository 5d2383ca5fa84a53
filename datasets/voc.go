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
	unlisted, left := 0, map[string]int{}
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
		if rows, err = opts.voc(rows, fsys, file, path.Join(at, vocImages), split, left); err != nil {
			return nil, fmt.Errorf("datasets: %s: %w", path.Join(name, file), err)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("datasets: %s: no box found in the files %s/*.xml, expected at least one", name,
			vocAnnotations)
	}
	if opts.Note != nil {
		opts.Note("%s: read as Pascal VOC's boxes (winnow data import --format folders takes the folders' names); "+
			"left out %d images that %s does not list, %d boxes with a side below %d pixels and %d outside their "+
			"picture",
			name, unlisted, vocLists, left[tooSmall], max(opts.MinBox, 1), left[outside])
	}
	return build(rows, vocColumns), nil
}

// voc reads an annotation file, and counts the boxes that are left out by reason.
func (o ReadOptions) voc(rows []row, fsys fs.FS, file, images, split string, left map[string]int) (_ []row, err error) {
	f, err := fsys.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var v vocFile
	if err := xml.NewDecoder(io.LimitReader(f, mostXML)).Decode(&v); err != nil {
		return nil, err
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
			return nil, fmt.Errorf("object %d: %w", i+1, err)
		}
		b := object.Box
		c, why, err := o.crop([]float64{b.Left - 1, b.Top - 1, b.Right - b.Left + 1, b.Bottom - b.Top + 1}, v.Width,
			v.Height)
		if err == nil && why != "" {
			left[why]++
			continue
		}
		id := fmt.Sprint(i + 1)
		if err == nil {
			rows, err = appendRow(rows, row{path: c.of(picture, id), label: strings.TrimSpace(object.Name),
				split: split, extra: []string{id, strings.TrimSpace(object.Difficult)}}, reading{ReadOptions: o})
		}
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", i+1, err)
		}
	}
	return rows, nil
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
