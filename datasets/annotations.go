package datasets

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"strconv"
	"strings"
)

// labelMark is a labelled box of a picture, or the label of the whole picture.
type labelMark struct {
	label string
	at    []float64 // left, upper edge, width, height in pixels; nil: the whole picture
	extra string    // value of the form's own column
	left  string    // why it is left out; "" if it is not
	odd   error     // why it cannot be read; nil if it can
}

// photo is what a file says of a picture.
type photo struct {
	file          string // as the file names it; "" if the file belongs to one picture
	width, height float64
	split         string
	marks         []labelMark
	shares        bool  // whether the boxes are shares of the picture's sides
	odd           error // why this cannot be read; nil if it can
}

// annotations is a form of labelled boxes: in a file for each picture, or in one for many.
type annotations struct {
	form   string
	column string // of its own; "" if there is none
	// parse reads a file, a picture at a time: give receives what the file says of it, and returns a decision on each
	// of its marks, or nil. The decisions are carried out in the text that parse returns; one without a label changes
	// nothing.
	parse func(text []byte, about *subject, give func(*photo) ([]Decision, error)) ([]byte, error)
}

// subject is what a parser is told about a file, and remembers of it.
type subject struct {
	size    func() (width, height float64, err error) // of the picture that the file belongs to
	names   []string                                  // of the classes, in the order of their numbers; nil: unknown
	numbers bool                                      // labels are those, because two names are equal
	field   string                                    // that holds the labels, if the form has several; "": not known
}

// findClassNumber returns the number of a class, for forms that write numbers.
func (s *subject) findClassNumber(label string) (string, error) {
	for i, name := range s.names {
		if name == label {
			return strconv.Itoa(i), nil
		}
	}
	if n, err := strconv.Atoi(label); s.names == nil && err == nil && n >= 0 {
		return label, nil
	}
	return "", fmt.Errorf("the new label %q is not among the %d names of classes: add it to them", label,
		len(s.names))
}

// boxReader turns what annotations say of pictures into rows. What cannot be read is left out, counted and listed.
type boxReader struct {
	opts    reading
	rows    []row
	left    map[Left]int
	seen    map[string]int                              // marks of each picture in files of many pictures
	resolve func(file string) (path string, found bool) // of the picture that a file names; nil: it is the path
	split   func(path string) string                    // of a picture whose file says nothing of it
	size    func(path string) (width, height float64, err error)
	file    string // that is read
	unread  []Unread
}

// missing is why pictures are left out that are named and not there.
const (
	missingPicture = "named and not there"
	severalLabels  = "with several labels of the whole"
	withoutBox     = "without a box"
	notReadable    = "not readable"
)

// leaveOutPart leaves out a part of the file, or the file if part is "".
func (b *boxReader) leaveOutPart(part, of string, why error) {
	b.left[Left{Reason: notReadable, Of: of}]++
	b.unread = append(b.unread, unreadFor(b.file, part, why))
}

// readBoxFile reads a file. If it cannot be read to its end, nothing of it stays.
func (b *boxReader) readBoxFile(file string, read func() error) {
	b.file = file
	rows, unread, left, seen := len(b.rows), len(b.unread), maps.Clone(b.left), maps.Clone(b.seen)
	if err := read(); err != nil {
		b.rows, b.unread, b.left, b.seen = b.rows[:rows], b.unread[:unread], left, seen
		b.leaveOutPart("", cmp.Or(strings.ToLower(path.Ext(file)), path.Base(file)), err)
	}
}

// addPhotoRows adds the rows of a picture.
func (b *boxReader) addPhotoRows(a *annotations, p *photo) {
	file, whole := p.file, 0
	if p.odd != nil {
		b.leaveOutPart(cmp.Or(file, "a picture"), "pictures", p.odd)
		return
	}
	if b.resolve != nil {
		found := false
		if file, found = b.resolve(p.file); !found {
			b.left[Left{Reason: missingPicture, Of: "pictures"}]++
			return
		}
	}
	for _, m := range p.marks {
		if m.at == nil && m.left == "" && m.odd == nil {
			whole++
		}
	}
	if whole > 1 {
		b.left[Left{Reason: severalLabels, Of: "pictures"}]++
	}
	split := p.split
	if split == "" && b.split != nil {
		split = b.split(file)
	}
	width, height := p.width, p.height
	if (width <= 0 || height <= 0) && len(p.marks) > whole && b.size != nil {
		width, height, _ = b.size(file) // reading the picture reports it
	}
	if len(p.marks) == 0 {
		b.left[Left{Reason: withoutBox, Of: "pictures"}]++
	}
	for _, m := range p.marks {
		n := b.countMark(file)
		if m.left != "" {
			b.left[Left{Reason: m.left, Of: "shapes"}]++
			continue
		}
		if m.at == nil && m.odd == nil && whole > 1 {
			continue
		}
		r := row{path: file, label: m.label, split: split, extra: []string{strconv.Itoa(n)}}
		if a.column != "" {
			r.extra = append(r.extra, m.extra)
		}
		why, err := "", m.odd
		if err == nil && m.at != nil {
			r.path, why, err = b.cropLabelMark(p, &m, file, n, width, height)
		}
		if err == nil && why == "" {
			b.rows, err = appendRow(b.rows, r, b.opts)
		}
		switch {
		case err != nil && p.file == "":
			b.leaveOutPart(fmt.Sprintf("object %d", n), "objects", err)
		case err != nil:
			b.leaveOutPart(fmt.Sprintf("%s, object %d", p.file, n), "objects", err)
		case why != "":
			b.left[Left{Reason: why, Of: "boxes"}]++
		}
	}
}

// cropLabelMark returns the path of the n-th mark of a picture, or why it is left out.
func (b *boxReader) cropLabelMark(p *photo, m *labelMark, file string, n int, width, height float64) (crop, why string,
	err error) {
	box := m.at
	if p.shares {
		if width <= 0 || height <= 0 {
			return "", "", fmt.Errorf("its box is given as shares of the sides of %.200q, which cannot be read", file)
		}
		box = scaleBoxToShares([2]float64{box[0], box[1]}, [2]float64{box[0] + box[2], box[1] + box[3]}, width, height)
	}
	c, why, err := b.opts.cropBox(box, width, height)
	return c.cropPath(file, strconv.Itoa(n)), why, err
}

// countMark returns the number of the next mark of a picture, from 1.
func (b *boxReader) countMark(file string) int {
	if b.seen == nil {
		b.seen = map[string]int{}
	}
	b.seen[file]++
	return b.seen[file]
}

// decisionsOn returns the decisions on the marks of a picture. Those that were not read as samples stay.
func (m *mender) decisionsOn(p *photo, path string) ([]Decision, error) {
	list := make([]Decision, len(p.marks))
	for i, k := range p.marks {
		if p.odd != nil || !m.isNext(path, m.seen.countMark(path), k.at != nil) {
			continue
		}
		what, err := m.decideNext(m.d.Samples[m.next].Path, k.label)
		if err != nil {
			return nil, fmt.Errorf("object %d with the label %q is not what was read before: the file has changed",
				m.seen.seen[path], k.label)
		}
		if what.Drop || what.Label != k.label {
			list[i] = what
		}
	}
	return list, nil
}

// isNext reports whether the n-th mark of a picture is the next sample.
func (m *mender) isNext(path string, n int, cropped bool) bool {
	if m.next >= len(m.d.Samples) || m.column < 0 {
		return false
	}
	s := &m.d.Samples[m.next]
	file, _, isCrop := CutCrop(s.Path)
	return isCrop == cropped && samePicture(path, file) && s.Extra[m.column] == strconv.Itoa(n)
}

// describeLeftOut completes a reading with what was left out.
func (b *boxReader) describeLeftOut(r *Reading) {
	r.Left = append(r.Left, countReasons(b.left)...)
	r.Unread = append(r.Unread, b.unread...)
}

// explainNoBox is the error for annotations without a box.
func (b *boxReader) explainNoBox(form, name string) error {
	why := ""
	for _, l := range countReasons(b.left) {
		why = cmp.Or(why, fmt.Sprintf("; %d %s %s", l.Files, l.Of, l.Reason))
	}
	if len(b.unread) > 0 {
		why = "; " + unreadLine(b.unread[:1], len(b.unread))
	}
	return fmt.Errorf("%s: read as %s: found no box, expected at least one%s", name, form, why)
}
