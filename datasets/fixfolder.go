package datasets

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"winnow/datasets/location"
	"winnow/internal/atomicfile"
	"winnow/internal/regular"
	"winnow/internal/text"
)

// Ways to put images into fixed class folders.
const (
	ByCopy     = "copy"
	ByHardlink = "hardlink"
	BySymlink  = "symlink"
	ByMove     = "move" // in the folder of the images itself
)

// FolderOut is a folder of fixed class folders to write.
type FolderOut struct {
	Path string // with ByMove the folder of the images
	By   string // "": ByCopy

	// Moving is called with the new paths of the images in the folder before ByMove moves the first; it may be nil.
	Moving func(to map[string]string) error
}

// FixedFolder names what FixFolder has written.
type FixedFolder struct {
	Folder  string `json:"folder"`
	Moves   int    `json:"moves"`           // images in another class folder, set aside, or with another name
	Renamed int    `json:"renamed"`         // moves to another name, because the name was taken
	List    string `json:"list,omitempty"`  // CSV file of the moves; "" if there was nothing to move in place
	Aside   string `json:"aside,omitempty"` // folder of the dropped images; "" if none was dropped
	Undo    string `json:"undo,omitempty"`  // script that moves the images back; "" without ByMove
	By      string `json:"by"`
}

// Text describes the files in a line.
func (f *FixedFolder) Text() string {
	said := fmt.Sprintf("%s: class folders by %s, %s to other paths (%d renamed)", f.Folder, f.By,
		text.Plural(f.Moves, "image"), f.Renamed)
	for _, part := range [][2]string{{"listed in ", f.List}, {"dropped images in ", f.Aside}, {"undo: sh ", f.Undo}} {
		if part[1] != "" {
			said += ", " + part[0] + part[1]
		}
	}
	return said
}

// IsFolderOut reports whether an output is a folder: it ends in a slash, or the folder exists.
func IsFolderOut(name string) bool {
	info, err := os.Stat(name)
	return name != "" && os.IsPathSeparator(name[len(name)-1]) || err == nil && info.IsDir()
}

// The forms of folders whose folders are the labels.
const (
	classForm = "class folders"
	splitForm = "class folders in splits"
)

// IsClassFolders reports whether d was read from class folders, so that FixFolder can write it.
func (d *Dataset) IsClassFolders() bool {
	return d != nil && d.Reading != nil && (d.Reading.Form == classForm || d.Reading.Form == splitForm)
}

// Check returns the error that FixFolder would return before it writes. d is what was read from the source; nil: Check
// reads it.
func (o FolderOut) Check(source location.Source, d *Dataset) error {
	layout, err := LayoutOf(context.Background(), source)
	if err == nil && d == nil && (layout == Folder || layout == Zip) {
		d, err = Read(source, ReadOptions{})
	}
	switch here := layout == Folder && !source.IsRemote(); {
	case err != nil:
	case !slices.Contains([]string{ByCopy, ByHardlink, BySymlink, ByMove}, cmp.Or(o.By, ByCopy)):
		err = fmt.Errorf("the way %q to put images there is unknown", o.By)
	case !d.IsClassFolders():
		err = fmt.Errorf("the labels of %s are not folders: name a file to write, such as fixed.csv", source)
	case !here && o.By != "" && o.By != ByCopy:
		err = fmt.Errorf("the images of %s are in no folder of this machine: they can only be copied", source)
	case here:
		err = o.checkApart(source.Path())
	}
	if err != nil {
		return fmt.Errorf("datasets: %s: %w", cmp.Or(o.Path, source.String()), err)
	}
	return nil
}

// checkApart returns an error if the new folder is inside or around that of the images or, with ByMove, another one.
func (o FolderOut) checkApart(source string) error {
	from, err := realPath(source)
	if err != nil || o.By == ByMove && o.Path == "" {
		return err
	}
	to, err := realPath(o.Path)
	if err != nil {
		return fmt.Errorf("%w: make the folder above it first", err)
	}
	isIn := func(a, b string) bool {
		rel, err := filepath.Rel(b, a)
		return err == nil && filepath.IsLocal(rel)
	}
	switch {
	case o.By == ByMove && to != from:
		return fmt.Errorf("images are moved within their folder %s: leave the name out, or copy", source)
	case o.By != ByMove && (isIn(to, from) || isIn(from, to)):
		return fmt.Errorf("is inside or around the images' folder %s: name a folder next to it, such as %s", source,
			filepath.Join(filepath.Dir(from), "fixed"))
	}
	return nil
}

// realPath returns the absolute path without symbolic links of a file that need not exist.
func realPath(name string) (string, error) {
	name, err := filepath.Abs(name)
	if real, missing := filepath.EvalSymlinks(name); err == nil && missing == nil {
		return real, nil
	}
	dir, missing := filepath.EvalSymlinks(filepath.Dir(name))
	return filepath.Join(dir, filepath.Base(name)), cmp.Or(err, missing)
}

// folderFixer writes fixed class folders.
type folderFixer struct {
	by       string
	source   location.Source
	from, to string // the folders of the images and of the fixed classes
	places   []place
	taken    map[string]bool // new paths, in lower case because some systems do not distinguish case
}

// place is where an image comes from and goes to.
type place struct {
	from, to     string // slash-separated, in the folder of the images, and in the new folder or the one set aside
	given, label string
	drop, moved  bool
	renamed      bool // because the name was taken
}

// FixFolder writes the images of class folders into fixed class folders. The images keep the folders above and below
// that of their class, such as those of splits. Dropped images are set aside in the folder NAME.dropped. The file
// NAME.moves.csv lists each image whose path changes. An existing file is never replaced: an image whose name is taken
// gets a number, and so does the whole folder if it exists.
//
// Except with ByMove, the images stay as they are, and the new folder appears once it is complete. With ByMove, the
// list and a script that moves all images back (NAME.undo.sh) are written before the first image is moved, so that a
// killed process can be undone or run again.
func FixFolder(ctx context.Context, o FolderOut, source location.Source, d *Dataset,
	decisions map[int]Decision) (did Fixed, f *FixedFolder, err error) {
	if err := o.Check(source, d); err != nil {
		return did, nil, err
	}
	counts := &fixer{d: d, decisions: decisions, did: Fixed{Changed: map[string]int{}}}
	x := &folderFixer{by: cmp.Or(o.By, ByCopy), source: source, from: filepath.Clean(source.Path()),
		to: filepath.Clean(o.Path), taken: map[string]bool{}}
	if x.by == ByMove {
		if info, err := os.Lstat(x.from); err != nil || !info.IsDir() || !filepath.IsLocal(x.from) || x.from == "." {
			x.from, _ = realPath(x.from) // what lies next to a link is not next to the folder
		}
		x.to = x.from
	}
	if err = cmp.Or(counts.checkDecisions(), x.planPlaces(d, decisions)); err == nil && x.by == ByMove {
		f, err = x.moveInPlace(ctx, o.Moving)
	} else if err == nil {
		f, err = x.writeNew(ctx)
	}
	if err != nil {
		return did, nil, fmt.Errorf("datasets: %s: %w", x.to, err)
	}
	return counts.did, f, nil
}

// planPlaces determines where each image goes. Images that stay where they are keep their names.
func (x *folderFixer) planPlaces(d *Dataset, decisions map[int]Decision) error {
	for i, s := range d.Samples {
		p := place{from: s.Path, to: s.Path, given: d.LabelName(s), label: d.LabelName(s)}
		if what := decisions[i]; what.Drop {
			p.drop, p.moved, p.label = true, true, ""
		} else if what.Label != "" && what.Label != p.given {
			p.label, p.moved = what.Label, true
			var err error
			if p.to, err = d.replaceClassFolder(s.Path, p.given, p.label); err != nil {
				return err
			}
		}
		if x.places = append(x.places, p); !p.moved {
			x.taken[strings.ToLower("/"+p.to)] = true
		}
	}
	for i := range x.places {
		if p := &x.places[i]; p.moved {
			x.claimName(p)
		}
	}
	return nil
}

// replaceClassFolder returns the path of an image after its class folder is replaced by that of another class.
func (d *Dataset) replaceClassFolder(p, given, label string) (string, error) {
	_, noSplit := ParseSplit(label)
	if strings.ContainsAny(label, "/\\\x00") || label[0] == '.' ||
		!slices.Contains(d.Classes, label) && (noSplit == nil || isNoClass(label)) {
		return "", fmt.Errorf("%s: the new label %q cannot name a class folder: choose another label, or write a "+
			"list, such as fixed.csv", p, label)
	}
	rest, ok := cutFolder(p, cmp.Or(d.Reading.At, "."))
	parts := strings.Split(rest, "/")
	for i := range parts[:len(parts)-1] {
		if ok && parts[i] == given && (i > 0 || d.Reading.Form == classForm) {
			parts[i] = label
			return path.Join(d.Reading.At, path.Join(parts...)), nil
		}
	}
	return "", fmt.Errorf("%s: is in no folder called %q: write a list, such as fixed.csv", p, given)
}

// claimName adds a number to the name of a moved image if another image has the name.
func (x *folderFixer) claimName(p *place) {
	stem, ending, named := strings.TrimSuffix(p.to, path.Ext(p.to)), path.Ext(p.to), p.to
	kind := map[bool]string{true: asideEnding}[p.drop] + "/"
	for n := 2; x.taken[strings.ToLower(kind+p.to)] || x.by == ByMove && x.isOther(p); n++ {
		p.to = fmt.Sprintf("%s-%d%s", stem, n, ending)
	}
	if x.taken[strings.ToLower(kind+p.to)] = true; p.to != named {
		p.renamed = true
	}
}

// isOther reports whether the place that an image is moved to has another file. A process killed within a move may have
// left the image itself there.
func (x *folderFixer) isOther(p *place) bool {
	there, err := os.Lstat(x.newPath(p))
	own, missing := os.Lstat(filepath.Join(x.from, filepath.FromSlash(p.from)))
	return err == nil && (missing != nil || !os.SameFile(there, own))
}

// The endings of the files and folders next to the new folder.
const (
	asideEnding = ".dropped"
	listEnding  = ".moves.csv"
	undoEnding  = ".undo.sh"
)

// newPath returns the path of an image in the new folder or the one set aside.
func (x *folderFixer) newPath(p *place) string {
	return filepath.Join(x.to+map[bool]string{true: asideEnding}[p.drop], filepath.FromSlash(p.to))
}

// freeName returns a path to which none of the endings gives an existing file: name, or name with a number. An empty
// folder is free.
func freeName(name string, endings ...string) string {
	free := name
	isTaken := func(ending string) bool {
		info, err := os.Lstat(free + ending)
		inside, _ := os.ReadDir(free + ending)
		return err == nil && (!info.IsDir() || len(inside) > 0)
	}
	for n := 2; slices.ContainsFunc(endings, isTaken); n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	return free
}

// describeMoves returns the names of what is written with the list and the script called name, and the rows of the
// list.
func (x *folderFixer) describeMoves(name string) (f *FixedFolder, rows [][]string) {
	f = &FixedFolder{Folder: x.to, By: x.by, List: name + listEnding}
	rows = [][]string{{"from", "to", "given_label", "new_label", "note"}}
	for i := range x.places {
		p := &x.places[i]
		if !p.moved {
			continue
		}
		var notes []string
		if p.drop {
			f.Aside, notes = x.to+asideEnding, append(notes, "dropped")
		}
		if p.renamed {
			f.Renamed, notes = f.Renamed+1, append(notes, "renamed: the name was taken")
		}
		rows = append(rows, []string{x.source.Join(p.from).String(), x.newPath(p), p.given, p.label,
			strings.Join(notes, "; ")})
	}
	f.Moves = len(rows) - 1
	return f, rows
}

// MovedImages returns the paths from which FixFolder has moved images of a folder in place, by the lists next to it.
func MovedImages(folder string) map[string]bool {
	moved := map[string]bool{}
	name, _ := realPath(folder)
	for n, list := 2, name+listEnding; ; n++ {
		f, err := regular.Open(list)
		if err != nil {
			return moved
		}
		rows, _ := csv.NewReader(f).ReadAll()
		f.Close()
		for _, row := range rows {
			for rest, ok := row[0], true; ok; moved[rest] = true { // the folder's name may be in its own path twice
				_, rest, ok = strings.Cut(rest, filepath.Base(name)+"/")
			}
		}
		list = fmt.Sprintf("%s-%d%s", name, n, listEnding)
	}
}

// writeRows writes the list of moves.
func writeRows(file string, rows [][]string) error {
	return atomicfile.Write(file, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
}
