// Package shards finds the files of sharded data sets, tar and Parquet files, by patterns of names, and opens the
// images in them by path, as if each shard were a folder.
package shards

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"winnow/datasets/location"
)

// mostFiles is how many files a pattern may stand for.
const mostFiles = 1 << 17

// bracePattern matches {A..B} and {A,B}, which shells expand and winnow refuses.
var bracePattern = regexp.MustCompile(`\{[^{}]*(\.\.|,)[^{}]*\}`)

// IsPattern reports whether a source stands for several files: its path contains *, ? or [, or braces as of a shell,
// and this machine has no file of that name.
func IsPattern(source location.Source) bool {
	if !strings.ContainsAny(source.Path(), "*?[") && !bracePattern.MatchString(source.Path()) {
		return false
	}
	_, err := os.Lstat(source.Path())
	return err != nil
}

// expandPattern returns the files that a pattern stands for, sorted.
func expandPattern(ctx context.Context, pattern location.Source) (files []location.Source, err error) {
	if braces := bracePattern.FindString(pattern.Path()); braces != "" {
		return nil, fmt.Errorf("%s: found %s, expected a pattern with *, ? or [0-9], such as 'train-*.tar', or the "+
			"folder of the shards", pattern, braces)
	}
	names, err := matchNames(ctx, pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no file is called so", pattern)
	}
	if len(names) > mostFiles {
		return nil, tooMany(pattern)
	}
	for _, name := range names {
		files = append(files, pattern.With(name))
	}
	return files, nil
}

// matchNames lists the paths that match a pattern. In an object store, it lists the names with the pattern's fixed
// beginning.
func matchNames(ctx context.Context, pattern location.Source) (names []string, err error) {
	if !pattern.IsRemote() {
		return filepath.Glob(pattern.Path())
	}
	dir := Folder(pattern)
	fixed := pattern.Path()[:strings.IndexAny(pattern.Path(), "*?[")]
	for name, err := range dir.Names(ctx, strings.TrimPrefix(fixed, dir.Path()+"/")) {
		if err != nil {
			return nil, err
		}
		name = dir.Path() + "/" + name
		ok, err := path.Match(pattern.Path(), name)
		if err != nil {
			return nil, err
		}
		if ok || name == pattern.Path() {
			names = append(names, name)
		}
	}
	return names, nil
}

func tooMany(pattern location.Source) error {
	return fmt.Errorf("%s: stands for more than %d files", pattern, mostFiles)
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
		return strings.ContainsAny(e, "*?[") || bracePattern.MatchString(e)
	}); i >= 0 {
		last = i
	}
	dir := strings.Join(elements[:last], "/")
	if dir == "" && last > 0 {
		return source.With("/")
	}
	return source.With(filepath.FromSlash(path.Clean(dir))) // Clean makes "" the working folder
}
