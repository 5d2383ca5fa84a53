package datasets

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"winnow/datasets/location"
	"winnow/internal/atomicfile"
	"winnow/internal/interrupt"
)

// IntoFolder reports whether the mended copy of a source is a folder: the source is one, zipped or not, and the name
// of the copy has no ending, as that of a list would.
func IntoFolder(source location.Source, to string) bool {
	if to == "" || filepath.Ext(to) != "" && !strings.HasSuffix(to, string(filepath.Separator)) {
		return false
	}
	layout, err := LayoutOf(context.Background(), source)
	return err == nil && (layout == Folder || layout == Zip)
}

// HasFiles returns an error unless a source holds files of boxes or labels, of which [MendFolder] can write mended
// copies.
func HasFiles(ctx context.Context, source location.Source) error {
	fsys, end, err := openTree(ctx, source)
	if err != nil {
		return fmt.Errorf("datasets: %w", err)
	}
	defer end()
	t, err := listTree(ctx, fsys)
	var coco []string
	if err == nil {
		coco, _, err = t.cocoFiles()
	}
	if err == nil && len(coco) == 0 {
		var b *boxFiles
		var tables []string
		if b, err = t.boxFilesAt(t.unwrapFolders()); b == nil && err == nil {
			tables, err = t.tableFiles()
		}
		if err == nil && b == nil && len(tables) == 0 {
			err = errNoFiles
		}
	}
	if err != nil {
		return fmt.Errorf("datasets: %s: %w", source, err)
	}
	return nil
}

var errNoFiles = errors.New("has no files of boxes or labels, such as YOLO's, of which a folder of mended copies " +
	"could be written: name a list that ends in .csv")

// MendTo writes the mended copy of a source to a file, as [Mend] does, or into a folder, as [MendFolder] does.
func MendTo(ctx context.Context, to string, source location.Source, d *Dataset,
	decisions map[int]Decision) (did Mended, err error) {
	if IntoFolder(source, to) {
		return MendFolder(ctx, to, source, d, decisions)
	}
	err = atomicfile.Write(to, func(w io.Writer) (err error) {
		did, err = Mend(interrupt.NewWriter(ctx, w), source, d, decisions)
		return err
	})
	return did, err
}

// boxForm reports whether a form is one of files of boxes.
func boxForm(form string) bool {
	return slices.ContainsFunc(boxForms, func(a *annotations) bool { return a.form == form })
}

// MendFolder writes mended copies of the files of boxes in a folder, zipped or not, into another folder, under the
// same paths. Only the labels of relabelled boxes change, and dropped boxes are left out; all other bytes stay, and so
// does each file that could not be read. The
// folder to write must be new, or hold nothing but such a copy. source, d and decisions are as for [Mend].
func MendFolder(ctx context.Context, dir string, source location.Source, d *Dataset,
	decisions map[int]Decision) (Mended, error) {
	d, decisions, _ = d.withRepeats(decisions, nil)
	m := &mender{d: d, decisions: decisions, until: len(d.Samples), did: Mended{Changed: map[string]int{}}}
	err := m.checkDecisions()
	if err == nil && (d.Reading == nil || !slices.Contains([]string{cocoFolder, boxTable}, d.Reading.Form) &&
		!boxForm(d.Reading.Form)) {
		err = errNoFiles
	}
	if err != nil {
		return Mended{}, fmt.Errorf("datasets: %s: %w", source, err)
	}
	fsys, end, err := openTree(ctx, source)
	if err != nil {
		return Mended{}, fmt.Errorf("datasets: %w", err)
	}
	defer end()
	t, err := listTree(ctx, fsys)
	if err != nil {
		return Mended{}, fmt.Errorf("datasets: %s: %w", source, err)
	}
	files, copyFile, err := m.listEditedFiles(t)
	if err == nil {
		err = mayWrite(dir, source, files)
	}
	if err != nil {
		return Mended{}, fmt.Errorf("datasets: %s: %w", source, err)
	}
	unread := map[string]bool{}
	for _, u := range d.Reading.Unread {
		unread[u.File] = unread[u.File] || u.Part == ""
	}
	err = atomicfile.WriteMany(dir, files, func(i int, w io.Writer) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if unread[files[i]] {
			return plainCopy(t.fsys, files[i], w)
		}
		return copyFile(i, w)
	})
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return Mended{}, fmt.Errorf("datasets: %s: %w", source, err)
	}
	if m.next != len(d.Samples) {
		return Mended{}, fmt.Errorf("datasets: %s: found %d samples, %d were read before: the folder has changed",
			source, m.next, len(d.Samples))
	}
	return m.did, nil
}

func plainCopy(fsys fs.FS, file string, w io.Writer) error {
	f, err := fsys.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// openTree opens a folder, zipped or not.
func openTree(ctx context.Context, source location.Source) (fsys fs.FS, end func(), err error) {
	if layout, err := LayoutOf(ctx, source); err != nil || layout != Zip {
		if err == nil && layout != Folder {
			err = fmt.Errorf("%s: expected a folder", source)
		}
		if err != nil {
			return nil, nil, err
		}
		fsys, err := source.Dir(ctx)
		return fsys, func() {}, err
	}
	f, err := source.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		fsys, err = OpenZip(f, info.Size())
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return fsys, func() { f.Close() }, nil
}

// listEditedFiles lists the files of boxes, and returns a function that copies and mends the i-th of them.
func (m *mender) listEditedFiles(t *listing) (files []string, copyFile func(i int, w io.Writer) error, err error) {
	m.column = slices.Index(m.d.Columns, objectColumn)
	if m.d.Reading.Form == cocoFolder {
		for _, f := range m.d.Reading.Files {
			files = append(files, f.File)
		}
		m.until = 0
		return files, func(i int, w io.Writer) error {
			m.until += m.d.Reading.Files[i].Rows
			return m.cocoFile(t.fsys, files[i], w)
		}, nil
	}
	if m.d.Reading.Form == boxTable {
		files, err = t.tableFiles()
		return files, func(i int, w io.Writer) error {
			f, err := t.fsys.Open(files[i])
			if err != nil {
				return err
			}
			defer f.Close()
			m.table = reading{in: t, file: files[i]}
			if err := m.copySource(w, f); err != nil {
				return errors.New(strings.TrimPrefix(err.Error(), ": "))
			}
			return nil
		}, err
	}
	b, err := t.boxFilesAt(t.unwrapFolders())
	if err == nil && (b == nil || b.form != m.d.Reading.Form) {
		err = fmt.Errorf("found no %s, which were read before: the folder has changed", m.d.Reading.Form)
	}
	if err != nil {
		return nil, nil, err
	}
	b.files = slices.DeleteFunc(b.files, func(f boxFile) bool { return f.file == "" })
	for _, f := range b.files {
		files = append(files, f.file)
	}
	return files, func(i int, w io.Writer) error {
		f := b.files[i]
		if f.picture != "" {
			m.seen.seen = nil
		}
		text, err := t.parseBoxFile(b, f, func(p *photo) ([]Decision, error) {
			picture, _ := b.findPictureOfFile(f, p.file)
			return m.decisionsOn(p, picture)
		})
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}, nil
}

// cocoFile mends a file of COCO's form.
func (m *mender) cocoFile(fsys fs.FS, file string, w io.Writer) error {
	text, err := fs.ReadFile(fsys, file)
	if err != nil {
		return err
	}
	if text, err = m.editFile(bytes.TrimPrefix(text, []byte("\ufeff")), m.editCOCO); err == nil {
		_, err = w.Write(text)
	}
	return err
}

// mayWrite returns an error if a folder holds other files than those that are written.
func mayWrite(dir string, source location.Source, files []string) error {
	ours := make(map[string]bool, len(files))
	for _, f := range files {
		ours[f] = true
	}
	err := filepath.WalkDir(dir, func(p string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rest, err := filepath.Rel(dir, p)
		if err == nil && !ours[filepath.ToSlash(rest)] && !strings.HasPrefix(entry.Name(), ".") {
			err = fmt.Errorf("%s: holds %s already, expected a new folder for the mended files", dir, rest)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil && !source.IsRemote() {
		from, _ := filepath.Abs(source.Path())
		to, _ := filepath.Abs(dir)
		if rest, relErr := filepath.Rel(from, to); relErr == nil && filepath.IsLocal(rest) {
			err = fmt.Errorf("%s: is in the folder itself, expected another for the mended files", dir)
		}
	}
	return err
}
