package shards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"winnow/datasets/location"
	"winnow/internal/regular"
)

// Kind is the type of a shard.
type Kind string

// The kinds of shards.
const (
	None    Kind = ""
	Tar     Kind = "tar"
	Parquet Kind = "parquet"
)

// headLength is the number of bytes needed to recognise the kind of a file.
const headLength = 512

// kindOf returns the kind of a file that starts with head.
func kindOf(head []byte) Kind {
	switch {
	case strings.HasPrefix(string(head), "PAR1"):
		return Parquet
	case isTar(head):
		return Tar
	}
	return None
}

// KindOf returns the kind of a file according to its first bytes; in an object store it uses the extension if that is
// known. Anything other than a regular file has the kind None.
func KindOf(ctx context.Context, file location.Source) (Kind, error) {
	if end := endOf(file.Ext()); file.IsRemote() && (end == Tar || end == Parquet) {
		return end, nil
	}
	if info, err := file.Stat(ctx); err == nil && !info.Mode().IsRegular() {
		return None, nil
	}
	f, err := file.Open(ctx)
	if err != nil {
		return None, err
	}
	defer f.Close()
	return readKind(f)
}

// endOf returns the kind for a file extension.
func endOf(ext string) Kind { return Kind(strings.ToLower(strings.TrimPrefix(ext, "."))) }

func readKind(f io.Reader) (Kind, error) {
	head := make([]byte, headLength)
	n, err := io.ReadFull(f, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return kindOf(head[:n]), cmp.Or(err, regular.Pointer(head[:n]))
}

// List is a list of shards of the same kind.
type List struct {
	Kind  Kind
	Root  location.Source // the folder that Names are relative to
	Names []string        // slash-separated paths of the files below Root
}

// StatImages describes a source of images. If it does not exist, the error says what was expected.
func StatImages(ctx context.Context, source location.Source) (fs.FileInfo, error) {
	info, err := source.Stat(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w: expected a folder of images, a .zip file of one, or a manifest", source,
			fs.ErrNotExist)
	}
	return info, err
}

// Find lists the shards of a source: a file, a name pattern, or a folder that contains .tar or .parquet files at any
// depth. If want is None, either kind is accepted.
func Find(ctx context.Context, source location.Source, want Kind) (*List, error) {
	l := &List{Kind: want, Root: Folder(source)}
	var files []location.Source
	var err error
	if IsPattern(source) {
		files, err = expandPattern(ctx, source)
	} else if info, serr := StatImages(ctx, source); serr != nil {
		err = serr
	} else if info.IsDir() {
		l.Root = source
		files, err = Below(ctx, source, want)
	} else {
		files = []location.Source{source}
	}
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		kind, err := KindOf(ctx, file)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		case want != None && kind != want:
			return nil, fmt.Errorf("%s is %s, expected %s", file, kind.describeKind(), want.describeKind())
		case kind == None:
			return nil, fmt.Errorf("%s is %s, expected one of the two", file, kind.describeKind())
		case l.Kind != None && kind != l.Kind:
			return nil, fmt.Errorf("%s: found both %s and, in %s, %s, expected one kind: choose with --format", source,
				l.Kind.describeKind(), file, kind.describeKind())
		}
		l.Kind = kind
		rel, err := l.Root.Rel(file)
		if err != nil {
			return nil, err
		}
		l.Names = append(l.Names, rel)
	}
	return l, nil
}

// describeKind returns the kind as a phrase for messages.
func (k Kind) describeKind() string {
	switch k {
	case Tar:
		return "a tar file"
	case Parquet:
		return "a Parquet file"
	}
	return "neither a tar nor a Parquet file"
}

// Below lists the files below a folder that have the extension of a shard, except hidden files.
func Below(ctx context.Context, dir location.Source, want Kind) (files []location.Source, err error) {
	if dir.IsRemote() {
		return belowAddress(ctx, dir, want)
	}
	err = filepath.WalkDir(dir.Path(), func(p string, e fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if strings.HasPrefix(e.Name(), ".") && p != dir.Path() {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !e.IsDir() && hasShardEnding(filepath.Ext(p), want) {
			files = append(files, dir.With(p))
		}
		if len(files) > mostFiles {
			return tooMany(dir)
		}
		return nil
	})
	return files, err
}

// hasShardEnding reports whether an extension belongs to a shard of the wanted kind.
func hasShardEnding(ext string, want Kind) bool {
	end := endOf(ext)
	return (end == Tar || end == Parquet) && (want == None || want == end)
}

// belowAddress is [Below] for a folder of an object store.
func belowAddress(ctx context.Context, dir location.Source, want Kind) (files []location.Source, err error) {
	for name, err := range dir.Names(ctx, "") {
		if err != nil {
			return nil, err
		}
		if hasShardEnding(path.Ext(name), want) && !strings.Contains("/"+name, "/.") {
			files = append(files, dir.Join(name))
		}
		if len(files) > mostFiles {
			return nil, tooMany(dir)
		}
	}
	return files, nil
}
