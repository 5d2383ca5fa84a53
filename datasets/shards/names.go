// Package shards finds the files of sharded data sets, tar and Parquet files, by patterns of names, and opens the
// images in them by path, as if each shard were a folder.
package shards

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"winnow/datasets/location"
)

// mostFiles is how many files a pattern may stand for.
const mostFiles = 1 << 17

// IsPattern reports whether a source stands for several files: its path contains {A..B}, {A,B}, *, ? or [, and this
// machine has no file of that name.
func IsPattern(source location.Source) bool {
	if !strings.ContainsAny(source.Path(), "*?[") && !braced(source.Path()) {
		return false
	}
	_, err := os.Lstat(source.Path())
	return err != nil
}

// braced reports whether a name contains braces that stand for several texts.
func braced(name string) bool {
	_, _, list := cut(name)
	return list != nil
}

// expand returns the files that a pattern stands for: those of braces in the order given, which must all exist;
// those of wildcards sorted.
func expand(ctx context.Context, pattern location.Source) ([]location.Source, error) {
	names := unbrace(nil, "", pattern.Path())
	if len(names) > mostFiles {
		return nil, tooMany(pattern)
	}
	there, err := lister(ctx, pattern)
	if err != nil {
		return nil, err
	}
	var files, missing []location.Source
	for _, name := range names {
		wild := strings.ContainsAny(name, "*?[")
		found, err := there(name, wild)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", pattern, err)
		case !wild && len(found) == 0:
			missing = append(missing, pattern.With(name))
			found = []string{name}
		}
		for _, name := range found {
			files = append(files, pattern.With(name))
		}
	}
	switch {
	case len(missing) > 0:
		return nil, fmt.Errorf("%s: %d of %d files are not there, the first %s", pattern, len(missing), len(names),
			missing[0])
	case len(files) == 0:
		return nil, fmt.Errorf("%s: no file is called so", pattern)
	case len(files) > mostFiles:
		return nil, tooMany(pattern)
	}
	if i := repeated(files); i >= 0 {
		return nil, fmt.Errorf("%s: names %s twice", pattern, files[i])
	}
	return files, nil
}

// lister returns a function that finds the files of a pattern without braces, or a single file. In an object store,
// all names with the pattern's fixed beginning are listed once.
func lister(ctx context.Context, pattern location.Source) (func(name string, wild bool) ([]string, error), error) {
	if !pattern.IsRemote() {
		return func(name string, wild bool) (files []string, err error) {
			if wild {
				return filepath.Glob(name)
			}
			if _, err := os.Stat(name); err == nil {
				files = []string{name}
			}
			return files, nil
		}, nil
	}
	dir := Folder(pattern)
	fixed := pattern.Path()[:strings.IndexAny(pattern.Path(), "*?[{")]
	var all []string // sorted
	for name, err := range dir.Names(ctx, strings.TrimPrefix(fixed, dir.Path()+"/")) {
		if err != nil {
			return nil, err
		}
		all = append(all, dir.Path()+"/"+name)
	}
	return func(name string, wild bool) (files []string, err error) {
		if i, ok := slices.BinarySearch(all, name); ok {
			return all[i : i+1], nil
		}
		for _, file := range all {
			ok, err := path.Match(name, file)
			if err != nil {
				return nil, err
			}
			if wild && ok {
				files = append(files, file)
			}
		}
		return files, nil
	}, nil
}

// repeated returns the index of a file that occurred before, or -1.
func repeated(files []location.Source) int {
	seen := make(map[location.Source]bool, len(files))
	return slices.IndexFunc(files, func(file location.Source) bool {
		was := seen[file]
		seen[file] = true
		return was
	})
}

func tooMany(pattern location.Source) error {
	return fmt.Errorf("%s: stands for more than %d files", pattern, mostFiles)
}

// unbrace appends the paths that a pattern stands for to names; braces are expanded from the left. It stops behind
// mostFiles.
func unbrace(names []string, before, pattern string) []string {
	head, tail, list := cut(pattern)
	if list == nil {
		return append(names, before+pattern)
	}
	for _, text := range list {
		if names = unbrace(names, before+head+text, tail); len(names) > mostFiles {
			break
		}
	}
	return names
}

// cut splits a name at its first braces that hold a list or a range of numbers. list is nil if there are none.
func cut(name string) (head, tail string, list []string) {
	for at := 0; ; at++ {
		open := strings.IndexByte(name[at:], '{')
		if open < 0 {
			return name, "", nil
		}
		at += open
		end := strings.IndexByte(name[at:], '}')
		if end < 0 {
			return name, "", nil
		}
		text := name[at+1 : at+end]
		if list = span(text); list == nil && strings.Contains(text, ",") {
			list = strings.Split(text, ",")
		}
		if list != nil {
			return name[:at], name[at+end+1:], list
		}
	}
}

// span returns the numbers of a range A..B, with as many digits as A has.
func span(text string) (list []string) {
	from, to, ok := strings.Cut(text, "..")
	a, err := strconv.ParseUint(from, 10, 31)
	b, bad := strconv.ParseUint(to, 10, 31)
	if !ok || err != nil || bad != nil || a > b || b-a >= mostFiles {
		return nil
	}
	for i := a; i <= b; i++ {
		list = append(list, fmt.Sprintf("%0*d", len(from), i))
	}
	return list
}

// Folder returns the folder that the paths to the files of a source are relative to: of a pattern, everything before
// the first element that stands for several names; of a file, the folder that contains it.
func Folder(source location.Source) location.Source {
	if !IsPattern(source) {
		return source.Parent()
	}
	pattern := filepath.ToSlash(source.Path())
	elements := strings.Split(pattern, "/")
	last := len(elements) - 1
	if i := slices.IndexFunc(elements, func(e string) bool {
		return strings.ContainsAny(e, "*?[") || braced(e)
	}); i >= 0 {
		last = i
	}
	if brace := strings.Index(pattern, "{"); brace >= 0 && braced(pattern) { // braces may span several elements
		last = min(last, strings.Count(pattern[:brace], "/"))
	}
	dir := strings.Join(elements[:last], "/")
	if dir == "" && last > 0 {
		return source.With("/")
	}
	return source.With(filepath.FromSlash(path.Clean(dir))) // Clean makes "" the working folder
}
