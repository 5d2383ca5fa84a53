package shards

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"winnow/datasets/tarshards"
	"winnow/internal/regular"
)

// Kind is what a shard is.
type Kind string

// The kinds of shards.
const (
	None    Kind = ""
	Tar     Kind = "tar"
	Parquet Kind = "parquet"
)

// headLength is how much of a file tells its kind.
const headLength = 512

// kindOf tells what a file that begins so is.
func kindOf(head []byte) Kind {
	switch {
	case strings.HasPrefix(string(head), "PAR1"):
		return Parquet
	case tarshards.Is(head):
		return Tar
	}
	return None
}

// KindOf tells what a file is, by how it begins; what is no regular file is none.
func KindOf(name string) (Kind, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return None, nil
	}
	f, err := regular.Open(name)
	if err != nil {
		return None, err
	}
	defer f.Close()
	return readKind(f)
}

func readKind(f io.Reader) (Kind, error) {
	head := make([]byte, headLength)
	n, err := io.ReadFull(f, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return kindOf(head[:n]), err
}

// Are reports whether a name stands for shards: it is a pattern, or that of a tar or Parquet file.
func Are(name string) bool {
	if IsPattern(name) {
		return true
	}
	kind, err := KindOf(name)
	return err == nil && kind != None
}

// List is some shards of one kind.
type List struct {
	Kind  Kind
	Root  string   // folder
	Names []string // paths of the files below Root, slash-separated
}

// Find lists the shards that a name stands for: a file, a pattern of files, or a folder with files that end in .tar or
// .parquet, at any depth. want None takes what is there.
func Find(ctx context.Context, name string, want Kind) (*List, error) {
	l := &List{Kind: want, Root: Folder(name)}
	var files []string
	var err error
	info, serr := os.Stat(name)
	switch {
	case serr == nil && info.IsDir():
		l.Root = name
		files, err = Below(ctx, name, want)
	case IsPattern(name):
		files, err = Expand(name)
	case serr != nil:
		err = serr
	default:
		l.Root, files = filepath.Dir(name), []string{name}
	}
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		kind, err := KindOf(file)
		switch {
		case err != nil:
			return nil, err
		case want != None && kind != want:
			return nil, fmt.Errorf("%s is %s, expected %s", file, kind.words(), want.words())
		case kind == None:
			return nil, fmt.Errorf("%s is %s, expected one of them", file, kind.words())
		case l.Kind != None && kind != l.Kind:
			return nil, fmt.Errorf("%s: found %s and, as %s, %s, expected one kind: choose by --format", name, l.Kind.words(), file, kind.words())
		}
		l.Kind = kind
		rel, err := filepath.Rel(l.Root, file)
		if err != nil {
			return nil, err
		}
		l.Names = append(l.Names, filepath.ToSlash(rel))
	}
	return l, nil
}

// words names a kind.
func (k Kind) words() string {
	switch k {
	case Tar:
		return "a tar file"
	case Parquet:
		return "a Parquet file"
	}
	return "neither a tar nor a Parquet file"
}

// Below lists the files of a folder that end as shards do, hidden ones passed over.
func Below(ctx context.Context, dir string, want Kind) (files []string, err error) {
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
		end := Kind(strings.ToLower(strings.TrimPrefix(filepath.Ext(p), ".")))
		if !e.IsDir() && (end == Tar || end == Parquet) && (want == None || want == end) {
			files = append(files, p)
		}
		if len(files) > mostFiles {
			return tooMany(dir)
		}
		return nil
	})
	return files, err
}
