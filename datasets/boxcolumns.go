package datasets

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// boxTable is the form of a table whose columns hold a box: each row's image is the crop.
const boxTable = "boxes of a table"

// boxColumns are the columns of a table's boxes.
type boxColumns struct {
	opts   reading
	at     [4]int
	kind   boxKind
	text   int    // the column of whole boxes; -1: each has four
	sides  [2]int // of the picture; -1: no such columns
	rows   int    // read
	shares *bool  // whether boxes are shares of the picture's sides; nil: not known yet
	// published says that the table is of Open Images: boxes are shares, and pictures are named without their endings
	published bool
	names     *shownNames // of the labels; nil: as they are
	find      func(named string) (string, bool)
	sizes     map[string][2]float64
	missing   map[string]bool // pictures that are not there
	left      map[Left]int
	unread    []Unread
}

// boxColumns returns the columns of boxes in a header, nil if there are none beside those that have a meaning.
func (o reading) boxColumns(header []string, at places) (*boxColumns, error) {
	b := &boxColumns{opts: o, sides: [2]int{-1, -1}, left: map[Left]int{},
		sizes: map[string][2]float64{}, missing: map[string]bool{}}
	var err error
	if b.at, b.kind, b.text, err = findBox(header, at); err != nil {
		return nil, err
	}
	if b.kind == noBox && b.text < 0 {
		if findColumn(header, "ImageID") >= 0 && findColumn(header, "LabelName") >= 0 &&
			findColumn(header, "Confidence") >= 0 {
			return nil, errors.New("is of Open Images' labels of whole images, several an image: expected " +
				"its boxes, with the columns XMin, XMax, YMin and YMax, or a list of one label an image")
		}
		return nil, nil
	}
	if at[pathColumn] < 0 || at[labelColumn] < 0 && o.unlabelled == nil {
		return nil, nil
	}
	columns := map[string]int{}
	for i, name := range header {
		if plain, _, _ := plainColumn(name); !slices.Contains(at[:], i) && !slices.Contains(b.at[:], i) {
			columns[plain] = i
		}
	}
	if list := firstPair(columns, pictureSides); list != nil {
		copy(b.sides[:], list)
	}
	return b, b.openCompanions(header)
}

// settleColumns looks at the first row: it returns nil if what may be boxes in text are none, and an error if they are
// and the column's name does not tell what their numbers are.
func (b *boxColumns) settleColumns(header, record []string) (*boxColumns, error) {
	if b.text >= 0 && !looksLikeBox(record[b.text]) {
		return nil, nil
	}
	if b.opts.unlabelled != nil {
		return nil, fmt.Errorf("holds boxes, in the columns %.200q: give this file itself as the source to read them, "+
			"or write them as COCO's annotations", strings.Join(header, ","))
	}
	if b.text < 0 {
		return b, nil
	}
	value := record[b.text]
	if _, ok := numbersOfBox(value); b.kind == noBox || !ok {
		return nil, fmt.Errorf("the column %.80q holds boxes, such as %.60q, and not what their numbers are: call it "+
			"bbox_xywh (left, top, width, height), bbox_xyxy (left, top, right, bottom) or bbox_cxcywh (centre, "+
			"width, height), with one box a row, or remove it to read whole images", header[b.text], value)
	}
	return b, nil
}

// openCompanions looks for what stands beside the table: the pictures and, for Open Images, the names of the classes.
func (b *boxColumns) openCompanions(header []string) (err error) {
	o := b.opts
	switch {
	case o.in != nil:
		find := o.in.newPictureFinder()
		b.find = func(named string) (string, bool) { return find(boxFile{file: o.file}, named) }
	case o.findPicturesFolder() != nil:
		dir := o.findPicturesFolder()
		entries, err := fs.ReadDir(dir, ".")
		if err != nil {
			return err
		}
		b.opts.in = &listing{fsys: dir}
		for _, e := range entries {
			if e.Type().IsRegular() {
				b.opts.in.others = append(b.opts.in.others, e.Name())
			}
		}
		if o.StripPrefix == "" {
			b.find = findBeside(dir, strings.TrimSuffix(o.from.Base(), o.from.Ext()))
		}
	}
	if findColumn(header, "ImageID") >= 0 && findColumn(header, "LabelName") >= 0 {
		b.published, b.shares = true, new(bool)
		*b.shares = true
		if b.opts.in != nil {
			b.names, err = b.opts.in.readDescriptions()
		}
	}
	return err
}

// findPicturesFolder returns the folder that the paths of a table begin in, the given root or its own; nil: it is
// unknown.
func (o reading) findPicturesFolder() fs.FS {
	root := o.Root
	if root.IsZero() && !o.from.IsZero() && !o.from.IsPipe() {
		root = o.from.Parent()
	}
	if root.IsZero() || root.IsRemote() || root.IsZip() {
		return nil
	}
	dir, err := root.Dir(context.Background())
	if err != nil {
		return nil // whoever opens the pictures reports it
	}
	return dir
}

// findBeside returns a function that finds pictures in a folder, or in the folders of pictures or splits in it, by
// names that may lack their endings.
func findBeside(dir fs.FS, own string) func(named string) (string, bool) {
	var tried []string // patterns of paths, the last successful first
	for _, below := range []string{"", "images", "data", own, "train", "validation", "test"} {
		for _, ending := range []string{"", ".jpg", ".jpeg", ".png"} {
			tried = append(tried, path.Join(below, "*")+ending)
		}
	}
	return func(named string) (string, bool) {
		named, err := cleanPath(named, "")
		if err != nil {
			return "", false
		}
		for i, pattern := range tried {
			p := strings.Replace(pattern, "*", named, 1)
			if info, err := fs.Stat(dir, p); err == nil && info.Mode().IsRegular() {
				copy(tried[1:i+1], tried[:i])
				tried[0] = pattern
				return p, true
			}
		}
		return "", false
	}
}

// takeRecord makes the row of a record the crop of its box. why says why the row is left out.
func (b *boxColumns) takeRecord(r *row, record []string) (why string, err error) {
	b.rows++
	if b.names != nil {
		r.label = b.names.translateToShown(r.label)
	}
	if _, _, cropped := CutCrop(r.path); cropped {
		return "", nil // is one already
	}
	var v [4]float64
	empty, columns := 0, b.at[:]
	if b.text >= 0 {
		if columns = nil; strings.TrimSpace(record[b.text]) == "" {
			return withoutBox, nil
		}
		var ok bool
		if v, ok = numbersOfBox(record[b.text]); !ok {
			return "", fmt.Errorf("box: found %.40q, expected four numbers", record[b.text])
		}
	}
	for i, at := range columns {
		text := strings.TrimSpace(record[at])
		if text == "" {
			empty++
			continue
		}
		if v[i], err = strconv.ParseFloat(text, 64); err != nil {
			return "", fmt.Errorf("box: found %.40q, expected a number", text)
		}
	}
	if empty == 4 {
		return withoutBox, nil
	}
	if empty > 0 {
		return "", fmt.Errorf("box: found %d empty values, expected four numbers", empty)
	}
	if b.shares == nil {
		shares := max(v[0], v[1], v[2], v[3]) <= 1
		b.shares = &shares
	}
	width, height, found := b.findPictureSides(r, record)
	if !found {
		return missingPicture, nil
	}
	if b.kind == centreBox {
		v[0], v[1] = v[0]-v[2]/2, v[1]-v[3]/2
	}
	if b.kind != cornerBox {
		v[2], v[3] = v[0]+v[2], v[1]+v[3]
	}
	box := []float64{v[0], v[1], v[2] - v[0], v[3] - v[1]}
	if *b.shares {
		if width <= 0 || height <= 0 {
			return "", errors.New("box: its numbers are shares of the picture's sides, which are not known: keep the " +
				"table with the pictures, or give it columns width and height")
		}
		box = scaleBoxToShares([2]float64{v[0], v[1]}, [2]float64{v[2], v[3]}, width, height)
	}
	if _, err := cleanPath(r.path, b.opts.StripPrefix); err != nil {
		return "", err
	}
	c, why, err := b.opts.cropBox(box, width, height)
	r.path = c.cropPath(r.path, strconv.Itoa(b.rows))
	return why, err
}

// findPictureSides returns the sides of a row's picture, 0 if unknown, and completes its path. It is not found if it
// should be beside the table and is not.
func (b *boxColumns) findPictureSides(r *row, record []string) (width, height float64, found bool) {
	if b.missing[r.path] {
		return 0, 0, false
	}
	if b.find != nil {
		if p, ok := b.find(r.path); ok {
			if r.path = p; b.opts.file != "" && r.split == "" {
				r.split = splitOfFolders(p, b.opts.Split)
			}
		} else if b.published || b.opts.file != "" {
			b.missing[r.path] = true
			return 0, 0, false
		} else {
			b.find = nil // the pictures are elsewhere: their root is named
		}
	}
	if b.sides[0] >= 0 {
		w, err := strconv.ParseFloat(strings.TrimSpace(record[b.sides[0]]), 64)
		h, otherErr := strconv.ParseFloat(strings.TrimSpace(record[b.sides[1]]), 64)
		if err == nil && otherErr == nil {
			return w, h, true
		}
	}
	if b.opts.in == nil {
		return 0, 0, true
	}
	size, known := b.sizes[r.path]
	if !known {
		w, h, err := b.opts.in.readPictureSize(r.path)
		if err == nil {
			size = [2]float64{w, h}
		}
		b.sizes[r.path] = size
	}
	return size[0], size[1], true
}

// describeBoxTable describes how a table of boxes was read.
func (b *boxColumns) describeBoxTable(name string, d *Dataset) *Reading {
	r := &Reading{Form: boxTable, Left: countReasons(b.left), Empty: []string{}, Unread: b.unread,
		Alike: lookAlikes(d.Classes)}
	if b.opts.file == "" {
		b.opts.noteLines(
			name,
			append([]string{"read as " + boxTable + ": the image of a row is the crop"}, r.Lines()...),
		)
	}
	return r
}

// shownNames translates the names of classes in a file.
type shownNames struct {
	shown map[string]string // by name in the file
	names map[string]string // in the file, by what is shown
}

func (n *shownNames) translateToShown(name string) string {
	if shown, ok := n.shown[name]; ok && n.names[shown] == name {
		return shown
	}
	return name
}

// translateToFile returns the name in the file of a class.
func (n *shownNames) translateToFile(shown string) (string, error) {
	if name, ok := n.names[shown]; ok {
		return name, nil
	}
	if n.shown[shown] != "" {
		return shown, nil
	}
	return "", fmt.Errorf("the new label %q is not among the %d class descriptions", shown, len(n.names))
}

// readDescriptions reads Open Images' class-descriptions beside a table: a name of the files and one for people a row.
// A name for people that two classes share is not used. nil: there is no such file.
func (t *listing) readDescriptions() (*shownNames, error) {
	for _, p := range t.others {
		base := strings.ToLower(path.Base(p))
		if path.Ext(base) != ".csv" || !strings.Contains(base, "class-descriptions") && base != "classes.csv" {
			continue
		}
		f, err := t.fsys.Open(p)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		n := &shownNames{map[string]string{}, map[string]string{}}
		in := csv.NewReader(bufio.NewReader(io.LimitReader(f, mostSidecar)))
		in.FieldsPerRecord = -1
		for {
			record, err := in.Read()
			if errors.Is(err, io.EOF) {
				return n, nil
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p, err)
			}
			if len(record) < 2 || strings.EqualFold(record[0], "LabelName") {
				continue
			}
			if _, twice := n.names[record[1]]; twice {
				n.names[record[1]] = "" // of none
			} else {
				n.names[record[1]] = record[0]
			}
			n.shown[record[0]] = record[1]
		}
	}
	return nil, nil
}

// isRow reports whether the path of a sample is that of the crop of a row.
func isRow(sample string, row int) bool {
	_, id, named := strings.Cut(sample[max(0, strings.LastIndex(sample, cropMark)):], "&id=")
	return named && id == strconv.Itoa(row)
}

// tableFiles lists the tables of boxes in a folder with pictures.
func (t *listing) tableFiles() (files []string, err error) {
	if len(t.images) == 0 {
		return nil, nil
	}
	var tables []string
	for _, p := range t.others {
		if end := strings.ToLower(path.Ext(p)); (end == ".csv" || end == ".tsv") && strings.Count(p, "/") < 4 {
			tables = append(tables, p)
		}
	}
	if len(tables) > mostGathered {
		return nil, nil
	}
	for _, p := range tables {
		head, err := headOf(t.fsys, p, headSize)
		if err != nil {
			return nil, err
		}
		in := bufio.NewReader(strings.NewReader(strings.TrimPrefix(string(head), "\ufeff")))
		comma := map[Format]rune{CSV: ',', TSV: '\t'}[guessFormat(in)]
		if comma == 0 {
			continue
		}
		names := csv.NewReader(in)
		names.Comma = comma
		header, err := names.Read()
		if err != nil {
			continue // is no table
		}
		at, _, err := ReadOptions{}.findColumns(header)
		if err != nil {
			continue
		}
		if b, err := (reading{in: &listing{}}).boxColumns(header, at); b != nil && b.text < 0 ||
			err != nil && findColumn(header, "ImageID") >= 0 {
			files = append(files, p)
		}
	}
	return files, nil
}

// readTables reads those tables, or returns nil if there are none.
func (t *listing) readTables(name string, opts ReadOptions) (*Dataset, error) {
	files, err := t.tableFiles()
	if len(files) == 0 || err != nil {
		return nil, err
	}
	var parts []*Dataset
	var unread []Unread
	for _, p := range files {
		how := reading{ReadOptions: opts, in: t, file: p}
		how.Note = nil
		how.Split = splitOfFolders(p, opts.Split)
		if s, err := ParseSplit(strings.TrimSuffix(path.Base(p), path.Ext(p))); err == nil {
			how.Split = s
		}
		f, err := t.fsys.Open(p)
		if err != nil {
			return nil, err
		}
		d, err := how.readAnyManifest(f, path.Join(name, p))
		f.Close()
		if err != nil {
			why := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "datasets: "+path.Join(name, p)), ":")
			unread = append(unread, Unread{File: p, Reason: strings.TrimSpace(why)})
			continue
		}
		parts = append(parts, d)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%s: read as %s: found no box, expected at least one; %s", name, boxTable,
			unreadLine(unread[:1], len(unread)))
	}
	d := Merge(parts...)
	d.Reading = t.describeListing(boxTable, ".", d.Classes)
	read := map[string]int{}
	for _, p := range files {
		read[strings.ToLower(path.Ext(p))]++
	}
	d.Reading.dropRead(read)
	left := map[Left]int{}
	for _, part := range parts {
		for _, l := range part.Reading.Left {
			left[Left{Reason: l.Reason, Of: l.Of}] += l.Files
		}
		d.Reading.Unread = append(d.Reading.Unread, part.Reading.Unread...)
	}
	for _, u := range unread {
		left[Left{Reason: notReadable, Of: strings.ToLower(path.Ext(u.File))}]++
	}
	d.Reading.Left = append(d.Reading.Left, countReasons(left)...)
	d.Reading.Unread = append(d.Reading.Unread, unread...)
	return d, nil
}
