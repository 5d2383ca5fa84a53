// Package shards finds the files of sharded datasets (tar and Parquet files) by name patterns. It opens the images in
// them by path, as if each shard were a folder.
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

// mostFiles is the largest number of files that a pattern may match.
const mostFiles = 1 << 17

// bracePattern matches {A..B} and {A,B}, which shells expand but winnow rejects.
var bracePattern = regexp.MustCompile(`\{[^{}]*(\.\.|,)[^{}]*\}`)

// IsPattern reports whether a source is a pattern for several files: its path contains *, ?, [ or a shell's braces, and
// no file on this machine has that name.
func IsPattern(source location.Source) bool {
	if !strings.ContainsAny(source.Path(), "*?[") && !bracePattern.MatchString(source.Path()) {
		return false
	}
	_, err := os.Lstat(source.Path())
	return err != nil
}

// expandPattern returns the files that match a pattern, sorted by name.
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
		return nil, fmt.Errorf("%s: no file matches this pattern", pattern)
	}
	if len(names) > mostFiles {
		return nil, tooMany(pattern)
	}
	for _, name := range names {
		files = append(files, pattern.With(name))
	}
	return files, nil
}

// matchNames lists the paths that match a pattern. In an object store, it lists only names that start with the constant
// part of the pattern.
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
	return fmt.Errorf("%s: matches more than %d files", pattern, mostFiles)
}

// Folder returns the folder that the paths of a source's files are relative to. For a pattern, this is the part before
// the first element with a wildcard; for a file, the folder that contains it.
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
	return source.With(filepath.FromSlash(path.Clean(dir))) // Clean turns "" into "."
}
