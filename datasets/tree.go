package datasets

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"winnow/internal/jsontext"
)

// serviceFolders are made by systems and network drives between people's pictures: thumbnails, recycle bins. Names
// that begin with a dot are theirs, too.
var serviceFolders = []string{"__MACOSX", "@eaDir", "#recycle", "#snapshot", "@Recycle", "$RECYCLE.BIN", "lost+found",
	"System Volume Information"}

// listing is what a folder holds: its images and what else is there.
type listing struct {
	fsys    fs.FS
	images  []string        // in the order of the walk
	folders []string        // all folders but those of services
	others  []string        // files that are no images
	opaque  map[string]bool // images that stand for folders that cannot be opened, because their names are not UTF-8
	hidden  map[string]int  // folders of services by name
}

// listTree lists a folder. Links to folders are followed in the two highest levels, where splits and classes are.
func listTree(ctx context.Context, fsys fs.FS) (*listing, error) {
	t := &listing{fsys: fsys, opaque: map[string]bool{}, hidden: map[string]int{}}
	return t, t.walkFolder(ctx, ".", false)
}

func (t *listing) walkFolder(ctx context.Context, from string, linked bool) error {
	return fs.WalkDir(t.fsys, from, func(p string, entry fs.DirEntry, err error) error {
		if err != nil && !utf8.ValidString(p) { // cannot be opened by its name: reading the image p reports it
			t.images, t.opaque[p] = append(t.images, p), true
			return fs.SkipDir
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		name := path.Base(p)
		isFolder := entry.IsDir()
		if entry.Type()&fs.ModeSymlink != 0 && !linked && strings.Count(p, "/") < 2 {
			if info, err := fs.Stat(t.fsys, p); err == nil && info.IsDir() {
				isFolder = true
			}
		}
		switch {
		case p == ".":
			return nil
		case isFolder && slices.ContainsFunc(serviceFolders, func(s string) bool { return strings.EqualFold(s, name) }):
			t.hidden[name]++
		case strings.HasPrefix(name, "."):
		case isFolder && !entry.IsDir():
			return t.walkFolder(ctx, p, true)
		case isFolder:
			t.folders = append(t.folders, p)
			return nil
		case isImageName(p) && isFile(t.fsys, p, entry), t.looksLikeImage(p, entry):
			t.images = append(t.images, p)
		case entry.Type().IsRegular():
			t.others = append(t.others, p)
		}
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// plainEndings are of files that nobody means as images.
var plainEndings = []string{".txt", ".csv", ".tsv", ".json", ".jsonl", ".xml", ".yaml", ".yml", ".md", ".html", ".pdf",
	".db", ".ini", ".log", ".py", ".sh", ".mat", ".npy", ".npz", ".pt", ".pth", ".pkl", ".onnx", ".bin", ".zip", ".tar",
	".gz", ".parquet", ".arrow", ".mp4", ".avi", ".mov", ".mp3", ".wav", ".lst", ".names", ".data", ".cfg", ".sqlite"}

// pictureMagics are the first bytes of picture files.
var pictureMagics = []string{"\xff\xd8\xff", "\x89PNG\r\n\x1a\n", "GIF87a", "GIF89a", "BM", "RIFF"}

// looksLikeImage reports whether a file without a known ending begins as a picture does: 07.jpg_large, IMG_1.
func (t *listing) looksLikeImage(p string, entry fs.DirEntry) bool {
	if slices.Contains(plainEndings, strings.ToLower(path.Ext(p))) || !entry.Type().IsRegular() {
		return false
	}
	f, err := t.fsys.Open(p)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 12)
	n, _ := io.ReadFull(f, head)
	text := string(head[:n])
	return slices.ContainsFunc(pictureMagics, func(m string) bool {
		return strings.HasPrefix(text, m) && (m != "RIFF" || strings.HasSuffix(text, "WEBP")) && (m != "BM" || n == 12)
	})
}

// cutFolder returns the rest of a path below a folder.
func cutFolder(p, folder string) (rest string, ok bool) {
	if folder == "." {
		return p, p != "."
	}
	return strings.CutPrefix(p, folder+"/")
}

// listTopFolders returns the folders of a folder that hold images, and the number of images directly in it.
func (t *listing) listTopFolders(at string) (tops []string, loose int) {
	for _, p := range t.images {
		rest, ok := cutFolder(p, at)
		top, _, deep := strings.Cut(rest, "/")
		switch {
		case !ok:
		case !deep && !t.opaque[p]:
			loose++
		case !slices.Contains(tops[max(0, len(tops)-1):], top): // the images of a folder follow each other
			tops = append(tops, top)
		}
	}
	slices.Sort(tops)
	return slices.Compact(tops), loose
}

// listFoldersIn lists all folders directly in a folder.
func (t *listing) listFoldersIn(at string) (list []string) {
	for _, p := range t.folders {
		if rest, ok := cutFolder(p, at); ok && !strings.Contains(rest, "/") {
			list = append(list, rest)
		}
	}
	return list
}

// unwrapFolders returns the folder that holds the classes or splits: the root or, as long as the images are all in one
// folder that holds folders of them, that folder. A split is no such folder.
func (t *listing) unwrapFolders() string {
	for at := "."; ; {
		tops, loose := t.listTopFolders(at)
		if len(tops) != 1 || loose > 0 {
			return at
		}
		if _, err := ParseSplit(tops[0]); err == nil {
			return at
		}
		below := path.Join(at, tops[0])
		inner, loose := t.listTopFolders(below)
		if len(inner) == 0 || loose > 0 && !(isPictureFolder(tops[0]) && len(inner) > 1) {
			return at
		}
		at = below
	}
}

// Reading says how a source was read, and what was left out.
type Reading struct {
	Form  string     `json:"form"`           // "class folders", "boxes of YOLO", …
	At    string     `json:"at,omitempty"`   // folder that holds the classes or splits, if not the source itself
	Left  []Left     `json:"left_out"`       // what was left out
	Empty []string   `json:"without_images"` // folders beside the classes without an image below them
	Alike [][]string `json:"alike"`          // labels that differ only in case, spaces, accents' encoding or zeros

	Within int         `json:"in_subfolders,omitempty"`   // images in folders within class folders
	First  string      `json:"first_subfolder,omitempty"` // the first of those
	Unread []Unread    `json:"not_readable,omitempty"`    // files, and parts of them, that were left out for that
	Files  []FileRows  `json:"files,omitempty"`           // of COCO's form in a folder that were read
	Splits []ReadSplit `json:"splits,omitempty"`          // set by Read
}

// Unread is a file of boxes or labels, or a part of one, that was left out because it cannot be read.
type Unread struct {
	File   string `json:"file"`           // "": the source itself
	Part   string `json:"part,omitempty"` // such as "object 2"; "": the whole file
	Reason string `json:"reason"`
}

// unreadFor returns what an error says of a file or a part of it.
func unreadFor(file, part string, err error) Unread {
	if at, ok := err.(*fs.PathError); ok { // not a wrapped one, which may be of another file
		err = at.Err
	}
	return Unread{file, part, jsontext.Fault(err).Error()}
}

// String returns "FILE: PART: REASON".
func (u Unread) String() string {
	said := u.Reason
	for _, of := range []string{u.Part, u.File} {
		if of != "" {
			said = of + ": " + said
		}
	}
	return said
}

// unreadLine describes what cannot be read: those shown, of so many.
func unreadLine(shown []Unread, all int) string {
	said := make([]string, len(shown))
	for i, u := range shown {
		said[i] = u.String()
	}
	line := notReadable + ": " + strings.Join(said, "; ")
	if n := all - len(shown); n > 0 {
		line += fmt.Sprintf("; and %d more", n)
	}
	return line
}

// FileRows counts the rows of a file of annotations, which follow those of the file before.
type FileRows struct {
	File string `json:"file"`
	Rows int    `json:"rows"`
}

// ReadSplit counts the images of a split, and the classes of their labels.
type ReadSplit struct {
	Split   string `json:"split"`
	Images  int    `json:"images"`
	Classes int    `json:"classes"`
}

// forms describe the formats of files.
var forms = map[Format]string{CSV: "table", TSV: "table with tabs", JSONL: "JSON lines",
	PRISM: "list without a header", COCO: "annotations of COCO", LabelStudio: "export of Label Studio",
	WebDataset: "shards of WebDataset", Parquet: "Parquet with images"}

// completeReading completes the reading of a dataset, which may be nil, and returns it. Nothing is known of paths
// alone.
func (d *Dataset) completeReading(form Format) *Reading {
	r := d.Reading
	if r == nil {
		r = &Reading{Form: forms[form], Left: []Left{}, Empty: []string{}, Alike: lookAlikes(d.Classes)}
	}
	for _, s := range d.Count() {
		r.Splits = append(r.Splits, ReadSplit{s.Split, s.Samples, s.Classes})
	}
	return r
}

// leaveOut notes what was left out of a table.
func (o ReadOptions) leaveOut(d *Dataset, name string, left []Left) {
	left = slices.DeleteFunc(left, func(l Left) bool { return l.Files == 0 })
	if len(left) == 0 {
		return
	}
	if d.Reading == nil {
		d.Reading = &Reading{Form: forms[CSV], Left: []Left{}, Empty: []string{}, Alike: lookAlikes(d.Classes)}
	}
	d.Reading.Left = append(d.Reading.Left, left...)
	o.noteLines(name, (&Reading{Left: left}).Lines())
}

// Left counts files that were left out for one reason.
type Left struct {
	Reason string `json:"reason"` // what is left out: "no picture", "no split", "service folder"
	Of     string `json:"of"`     // ending or folder
	Files  int    `json:"files"`
}

// Lines describes a reading, one line for each thing that needs attention; none if it is plain.
func (r *Reading) Lines() (list []string) {
	if r.At != "" {
		list = append(list, fmt.Sprintf("read as %s below %s", r.Form, r.At))
	}
	if r.Within > 0 {
		list = append(list, fmt.Sprintf("%d images are in folders within those of their classes, such as %s", r.Within,
			r.First))
	}
	var left []string
	for _, l := range r.Left {
		of := l.Of
		if l.Files == 1 {
			of = strings.NewReplacer("pictures", "picture", "boxes", "box", "objects", "object", "rows",
				"row").Replace(of)
		}
		left = append(left, fmt.Sprintf("%d %s (%s)", l.Files, of, l.Reason))
	}
	if len(r.Empty) > 0 {
		shown := r.Empty[:min(len(r.Empty), 3)]
		what, more := "folders", ""
		if len(r.Empty) > len(shown) {
			more = ", …"
		} else if len(r.Empty) == 1 {
			what = "folder"
		}
		left = append(left, fmt.Sprintf("%d %s without pictures (%s%s)", len(r.Empty), what, strings.Join(shown,
			", "), more))
	}
	if len(left) > 0 {
		list = append(list, "left out: "+strings.Join(left, ", "))
	}
	if n := len(r.Unread); n > 0 {
		list = append(list, unreadLine(r.Unread[:min(n, 3)], n))
	}
	for _, names := range r.Alike {
		list = append(list, "labels that look alike, kept apart: "+quotedList(names))
	}
	return list
}

// quotedList names labels so that spaces at their ends are seen, and accents that are characters of their own.
func quotedList(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		if quoted[i] = strconv.Quote(n); !norm.NFC.IsNormalString(n) {
			quoted[i] = strconv.QuoteToASCII(n)
		}
	}
	return strings.Join(quoted, " and ")
}

// describeListing describes what was left out around the images that were read.
func (t *listing) describeListing(form, at string, classes []string) *Reading {
	r := &Reading{Form: form, Left: []Left{}, Empty: []string{}, Alike: lookAlikes(classes)}
	if at != "." {
		r.At = at
	}
	endings := map[string]int{}
	for _, p := range t.others {
		endings[cmp.Or(strings.ToLower(path.Ext(p)), "files without an ending")]++
	}
	for _, end := range slices.Sorted(maps.Keys(endings)) {
		r.Left = append(r.Left, Left{"no picture", end, endings[end]})
	}
	for _, name := range slices.Sorted(maps.Keys(t.hidden)) {
		r.Left = append(r.Left, Left{"service folder", name, t.hidden[name]})
	}
	for dir := at; ; dir = path.Dir(dir) {
		tops, _ := t.listTopFolders(dir)
		for _, name := range t.listFoldersIn(dir) {
			if !slices.Contains(tops, name) {
				r.Empty = append(r.Empty, path.Join(dir, name))
			}
		}
		if dir == "." {
			return r
		}
	}
}
