package shards

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"winnow/datasets/location"
	"winnow/datasets/tarshards"
)

// Kind is the type of a shard.
type Kind string

// The kinds of shards.
const (
	None    Kind = ""
	Tar     Kind = "tar"
	Parquet Kind = "parquet"
)

// headLength is how many bytes of a file determine its kind.
const headLength = 512

// kindOf returns the kind of a file with this beginning.
func kindOf(head []byte) Kind {
	switch {
	case strings.HasPrefix(string(head), "PAR1"):
		return Parquet
	case tarshards.Is(head):
		return Tar
	}
	return None
}

// KindOf returns the kind of a file by its first bytes; in an object store by the ending of its name, if that says
// it. Anything other than a regular file has no kind.
func KindOf(ctx context.Context, name string) (Kind, error) {
	if end := endOf(name); location.IsRemote(name) && (end == Tar || end == Parquet) {
		return end, nil
	}
	if info, err := location.Stat(ctx, name); err == nil && !info.Mode().IsRegular() {
		return None, nil
	}
	f, err := location.Open(ctx, name)
	if err != nil {
		return None, err
	}
	defer f.Close()
	return readKind(f)
}

// endOf returns the kind that a name's ending implies.
func endOf(name string) Kind {
	return Kind(strings.ToLower(strings.TrimPrefix(filepath.Ext(location.Base(name)), ".")))
}

func readKind(f io.Reader) (Kind, error) {
	head := make([]byte, headLength)
	n, err := io.ReadFull(f, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return kindOf(head[:n]), err
}

// Are reports whether a name stands for shards: it is a pattern, or names a tar or Parquet file.
func Are(ctx context.Context, name string) bool {
	if IsPattern(name) {
		return true
	}
	kind, err := KindOf(ctx, name)
	return err == nil && kind != None
}

// List is some shards of one kind.
type List struct {
	Kind  Kind
	Root  string   // folder
	Names []string // slash-separated paths of the files below Root
}

// Find lists the shards that a name stands for: a file, a pattern of files, or a folder with files that end in .tar
// or .parquet, at any depth. want None accepts either kind.
func Find(ctx context.Context, name string, want Kind) (*List, error) {
	l := &List{Kind: want, Root: Folder(name)}
	var files []string
	var err error
	if IsPattern(name) {
		files, err = expand(ctx, name)
	} else if info, serr := location.Stat(ctx, name); serr != nil {
		err = serr
	} else if info.IsDir() {
		l.Root = name
		files, err = Below(ctx, name, want)
	} else {
		l.Root, files = location.Parent(name), []string{name}
	}
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		kind, err := KindOf(ctx, file)
		switch {
		case err != nil:
			return nil, err
		case want != None && kind != want:
			return nil, fmt.Errorf("%s is %s, expected %s", file, kind.words(), want.words())
		case kind == None:
			return nil, fmt.Errorf("%s is %s, expected one of them", file, kind.words())
		case l.Kind != None && kind != l.Kind:
			return nil, fmt.Errorf("%s: found %s and, as %s, %s, expected one kind: choose by --format", name,
				l.Kind.words(), file, kind.words())
		}
		l.Kind = kind
		rel, err := location.Rel(l.Root, file)
		if err != nil {
			return nil, err
		}
		l.Names = append(l.Names, rel)
	}
	return l, nil
}

// words describes a kind.
func (k Kind) words() string {
	switch k {
	case Tar:
		return "a tar file"
	case Parquet:
		return "a Parquet file"
	}
	return "neither a tar nor a Parquet file"
}

// Below lists the files of a folder that have the ending of a shard, without hidden ones.
func Below(ctx context.Context, dir string, want Kind) (files []string, err error) {
	if location.IsRemote(dir) {
		return belowAddress(ctx, dir, want)
	}
	dir = location.Local(dir)
	err = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if strings.HasPrefix(e.Name(), ".") && p != dir {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !e.IsDir() && ends(p, want) {
			files = append(files, p)
		}
		if len(files) > mostFiles {
			return tooMany(dir)
		}
		return nil
	})
	return files, err
}

// ends reports whether a name has the ending of a shard of the wanted kind.
func ends(name string, want Kind) bool {
	end := endOf(name)
	return (end == Tar || end == Parquet) && (want == None || want == end)
}

// belowAddress is [Below] for a folder of an object store.
func belowAddress(ctx context.Context, dir string, want Kind) (files []string, err error) {
	err = location.Names(ctx, dir, "", func(name string) error {
		if ends(name, want) && !strings.Contains("/"+name, "/.") {
			files = append(files, location.Join(dir, name))
		}
		if len(files) > mostFiles {
			return tooMany(dir)
		}
		return nil
	})
	return files, err
}
