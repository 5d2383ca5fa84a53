package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"winnow/internal/atomicfile"
	"winnow/internal/lock"
)

// writeNew writes all images below a hidden folder next to the new one, and then renames the result.
func (x *folderFixer) writeNew(ctx context.Context) (f *FixedFolder, err error) {
	layout, err := LayoutOf(ctx, x.source)
	if err != nil {
		return nil, err
	}
	files, end, err := openTree(ctx, x.source, layout)
	if err != nil {
		return nil, err
	}
	defer end()
	x.to = freeName(x.to, "", asideEnding, listEnding)
	partial := filepath.Join(filepath.Dir(x.to), "."+filepath.Base(x.to)+".partial")
	if err := os.Mkdir(partial, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	root, err := os.OpenRoot(partial)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	held, err := lock.Folder(partial)
	if err != nil {
		return nil, err
	}
	parts := map[bool]string{false: "kept", true: "dropped"}
	clear := func() error { return errors.Join(root.RemoveAll(parts[false]), root.RemoveAll(parts[true])) }
	defer func() { _ = errors.Join(clear(), held.Close(), root.Remove(lock.Name), os.Remove(partial)) }()
	if err := clear(); err != nil { // what a killed process left
		return nil, err
	}
	for i := range x.places {
		p := &x.places[i]
		to := path.Join(parts[p.drop], p.to)
		err := cmp.Or(ctx.Err(), root.MkdirAll(path.Dir(to), 0o755))
		if err == nil {
			err = x.placeImage(files, root, p.from, to)
		}
		if err != nil {
			return nil, err
		}
	}
	f, rows := x.describeMoves(x.to)
	if f.Aside != "" {
		err = os.Rename(filepath.Join(partial, parts[true]), f.Aside)
	}
	if err == nil {
		err = writeRows(f.List, rows)
	}
	if err == nil {
		_ = os.Remove(x.to) // an empty folder, see freeName
		err = os.Rename(filepath.Join(partial, parts[false]), x.to)
	}
	return f, err
}

// placeImage puts an image into the new folder, where no such file exists.
func (x *folderFixer) placeImage(files fs.FS, root *os.Root, from, to string) error {
	if x.by != ByCopy {
		file, err := realPath(filepath.Join(x.from, filepath.FromSlash(from)))
		if err == nil && x.by == BySymlink {
			return root.Symlink(file, to)
		}
		if err == nil {
			err = os.Link(file, filepath.Join(root.Name(), filepath.FromSlash(to)))
		}
		return err
	}
	in, err := files.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = cmp.Or(err, out.Close()); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if info, err := in.Stat(); err == nil {
		_ = root.Chtimes(to, info.ModTime(), info.ModTime()) // for programs that compare times
	}
	return nil
}

// moveInPlace moves the images within their folder, after it has called moving and written the list and the script.
func (x *folderFixer) moveInPlace(ctx context.Context, moving func(map[string]string) error) (*FixedFolder, error) {
	above, base := filepath.Dir(x.from), filepath.Base(x.from)
	root, err := os.OpenRoot(above)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name := freeName(x.to, listEnding, undoEnding)
	f, rows := x.describeMoves(name)
	if f.Moves == 0 {
		return &FixedFolder{Folder: x.to, By: x.by}, nil
	}
	f.Undo = name + undoEnding
	var moves [][2]string // paths from above
	real, paths := map[string]bool{".": true}, map[string]string{}
	for i := range x.places {
		if p := &x.places[i]; p.moved {
			to, _ := filepath.Rel(above, x.newPath(p))
			m := [2]string{path.Join(base, p.from), filepath.ToSlash(to)}
			err = cmp.Or(err, checkFolder(root, path.Dir(m[0]), real), checkFolder(root, path.Dir(m[1]), real))
			if moves = append(moves, m); !p.drop {
				paths[p.from] = p.to
			}
		}
	}
	if err == nil && moving != nil {
		err = moving(paths)
	}
	if err == nil {
		err = writeRows(f.List, rows)
	}
	if err == nil {
		err = atomicfile.WriteBytes(f.Undo, []byte(writeUndo(moves)))
	}
	for i := 0; i < len(moves) && err == nil; i++ {
		from, to := moves[i][0], moves[i][1]
		if err = cmp.Or(ctx.Err(), root.MkdirAll(path.Dir(to), 0o755)); err == nil {
			err = moveFile(root, from, to)
		}
		if err != nil {
			err = fmt.Errorf("moved %d of %d images (run it again, or undo with sh %s): %w", i, len(moves), f.Undo, err)
		}
	}
	return f, err
}

// checkFolder returns an error if a folder exists and is, or is inside of, a link or a file.
func checkFolder(root *os.Root, dir string, real map[string]bool) error {
	if real[dir] {
		return nil
	}
	if err := checkFolder(root, path.Dir(dir), real); err != nil {
		return err
	}
	info, err := root.Lstat(dir)
	if err == nil && !info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: is a link or no folder, and %s follows no links: use --by %s", dir, ByMove, ByCopy)
	}
	real[dir] = true
	return nil
}

// moveFile moves a file to a path where no file, or the same file, exists. Unlike a renaming, it never replaces a file;
// it renames only in file systems without hard links.
func moveFile(root *os.Root, from, to string) error {
	err := root.Link(from, to)
	there, missing := root.Lstat(to)
	switch own, _ := root.Lstat(from); {
	case err == nil || missing == nil && own != nil && os.SameFile(there, own):
		return root.Remove(from)
	case missing != nil && !errors.Is(err, fs.ErrExist):
		return root.Rename(from, to)
	}
	return err
}

// writeUndo returns a shell script that moves files back, the last first.
func writeUndo(moves [][2]string) string {
	var script strings.Builder
	script.WriteString(`#!/bin/sh
# Moves the images back to where they were before winnow moved them. It replaces no file and can be run again.
CDPATH= cd "$(dirname "$0")" || exit 1
back() {
	if [ -e "$1" ] || [ -L "$1" ]; then
		printf 'not moved back, the file is there: %s\n' "$1"
	elif [ -e "$2" ] || [ -L "$2" ]; then
		mkdir -p "$3" && mv "$2" "$1"
	fi
}
`)
	quote := func(name string) string { return "'./" + strings.ReplaceAll(name, "'", `'\''`) + "'" }
	for _, m := range slices.Backward(moves) {
		fmt.Fprintf(&script, "back %s %s %s\n", quote(m[0]), quote(m[1]), quote(path.Dir(m[0])))
	}
	return script.String()
}
