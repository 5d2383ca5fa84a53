package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
)

// cocoFolder is the form of a folder with files of COCO's form beside its pictures.
const cocoFolder = "boxes of COCO"

// roboflow is the file that Roboflow writes into the folder of a split, next to its pictures.
const roboflow = "_annotations.coco.json"

// besideBoxes begin the names of COCO's published files that tell other things of the pictures whose boxes are in
// instances_*.json.
var besideBoxes = []string{"captions", "image_info", "panoptic", "person_keypoints", "stuff"}

// cocoFiles lists the files of COCO's form, and those that are published beside them and hold no boxes of their own.
func (t *listing) cocoFiles() (files, beside []string, err error) {
	var found []string
	for _, p := range t.others {
		switch {
		case path.Base(p) == roboflow:
			files = append(files, p)
		case strings.ToLower(path.Ext(p)) == ".json" && strings.Count(p, "/") < 4:
			found = append(found, p)
		}
	}
	if len(files) > 0 || len(found) > mostGathered || len(t.images) == 0 {
		return files, nil, nil
	}
	for _, p := range found {
		head, err := headOf(t.fsys, p, headSize)
		if err != nil {
			return nil, nil, err
		}
		if isFiftyOne(head) || !isCOCO(head) {
			continue
		}
		if slices.ContainsFunc(besideBoxes, func(s string) bool { return strings.HasPrefix(path.Base(p), s) }) {
			beside = append(beside, p)
		} else {
			files = append(files, p)
		}
	}
	if files == nil { // keypoints have boxes, and reading the others says what they are
		return beside, nil, nil
	}
	return files, beside, nil
}

// readCOCOFolder reads the boxes of such files, or returns nil if there are none whose pictures are in the folder.
func readCOCOFolder(t *listing, name string, opts ReadOptions) (*Dataset, error) {
	files, beside, err := t.cocoFiles()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if files == nil {
		return nil, nil
	}
	find := t.newPictureFinder()
	var all []row
	var other error // that a file holds no boxes
	var read []FileRows
	left, listedBy := map[Left]int{}, map[string]string{} // and the file that lists a picture
	byIDs, skipped := 0, 0
	var unread []Unread
	for _, p := range files {
		got, err := t.readCOCO(p, find, opts)
		if not := (*notBoxes)(nil); errors.As(err, &not) {
			other = fmt.Errorf("%s: %w", path.Join(name, p), err)
			beside = append(beside, p)
			continue
		}
		if err != nil {
			left[Left{Reason: notReadable, Of: strings.ToLower(path.Ext(p))}]++
			unread = append(unread, unreadFor(p, "", err))
			skipped++
			continue
		}
		if len(got.rows) == 0 && path.Base(p) != roboflow && len(got.unread) == 0 {
			beside = append(beside, p)
			continue
		}
		for _, r := range got.rows {
			picture, _, _ := CutCrop(r.path)
			if by := listedBy[picture]; by != "" && by != p {
				return nil, fmt.Errorf("%s: found boxes of %s in %s and in %s: two readings are possible: name one of "+
					"the files, or move the other away", name, picture, by, p)
			}
			listedBy[picture] = p
		}
		if got.byID {
			byIDs++
		}
		for l, n := range got.left {
			left[l] += n
		}
		for _, u := range got.unread {
			unread = append(unread, Unread{p, u.Part, u.Reason})
		}
		all, read = append(all, got.rows...), append(read, FileRows{p, len(got.rows)})
	}
	if len(all) == 0 && len(unread) > 0 {
		return nil, fmt.Errorf("%s: read as %s: found no box, expected at least one; %s", name, cocoFolder,
			unreadLine(unread[:1], len(unread)))
	}
	if len(all) == 0 {
		return nil, other
	}
	d := buildDataset(all, []string{annotationID, imageID})
	d.Reading = t.describeListing(cocoFolder, ".", d.Classes)
	d.Reading.Files, d.Reading.Unread = read, unread
	d.Reading.dropRead(map[string]int{".json": len(read) + len(beside) + skipped})
	slices.Sort(beside)
	for _, p := range beside {
		left[Left{Reason: "no boxes of these pictures", Of: p}]++
	}
	for _, p := range t.images {
		if listedBy[p] == "" {
			left[Left{Reason: withoutBox, Of: "pictures"}]++
		}
	}
	d.Reading.Left = append(d.Reading.Left, countReasons(left)...)
	if byIDs > 0 {
		opts.noteLines(name, []string{labelsAreIDs})
	}
	return d, nil
}

// readCOCO reads a file of COCO's form whose pictures are in the folder.
func (t *listing) readCOCO(p string, find func(boxFile, string) (string, bool), opts ReadOptions) (*cocoRows,
	error) {
	stem := strings.TrimSuffix(path.Base(p), path.Ext(p))
	own := []string{stem[strings.LastIndexByte(stem, '_')+1:], stem} // instances_train2017: pictures in train2017
	named := splitOfName(stem)
	if s, err := ParseSplit(path.Base(path.Dir(p))); err == nil && named == "" {
		named = s
	}
	ofFolders := func(p string) (split string) {
		for dir := range strings.SplitSeq(path.Dir(p), "/") {
			split = cmp.Or(splitOfName(dir), split)
		}
		return split
	}
	how := reading{ReadOptions: opts, within: func(r *row) error {
		r.split = cmp.Or(named, ofFolders(r.path))
		return nil
	}, find: func(picture string) (string, bool) {
		for _, folder := range own {
			found, ok := find(boxFile{file: path.Join(path.Dir(p), folder+path.Ext(p))}, picture)
			if in := ofFolders(found); ok && (named == "" || in == "" || in == named) {
				return found, true
			}
		}
		return "", false
	}}
	f, err := t.fsys.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return how.readCOCORows(f)
}

// splitOfName returns the split that a word of a name says: validation for instances_val2017; "" if none does.
func splitOfName(name string) (split string) {
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if s, err := ParseSplit(word); err == nil {
			split = s
		}
	}
	return split
}
