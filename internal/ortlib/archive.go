package ortlib

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"winnow/internal/regular"
)

// largest is the largest size of one unpacked library, mostRead that of an unpacked archive. The largest known
// are 230 MB and 450 MB.
const (
	largest  = 2 << 30
	mostRead = 8 << 30
)

// visitor is called with the name and content of each regular file of a source. An error ends the visit.
type visitor func(name string, size int64, content io.Reader) error

// visitSource walks an archive (.tgz, .tar.gz), a folder, following links to files, or a single file.
func visitSource(ctx context.Context, source string, visit visitor) error {
	info, err := os.Stat(source)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return filepath.WalkDir(source, func(path string, _ fs.DirEntry, err error) error {
			if err = errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() { // not a dangling link, a socket
				return visitLibrary(path, info.Size(), visit)
			}
			return nil
		})
	case strings.HasSuffix(source, ".tgz") || strings.HasSuffix(source, ".tar.gz"):
		// gzip's checksum is at the end, after the library: without this pass a damaged library would be installed
		// before the damage is noticed.
		if err := visitTar(ctx, source, func(string, int64, io.Reader) error { return nil }); err != nil {
			return err
		}
		return visitTar(ctx, source, visit)
	}
	return visitLibrary(source, info.Size(), visit)
}

func visitLibrary(path string, size int64, visit visitor) error {
	file, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return visit(filepath.ToSlash(path), size, file)
}

func visitTar(ctx context.Context, path string, visit visitor) error {
	file, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(bufio.NewReaderSize(file, 1<<16))
	if err != nil {
		return fmt.Errorf("not a gzip archive: %v", err)
	}
	limit := &io.LimitedReader{R: unzipped, N: mostRead}
	archive := tar.NewReader(limit)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, limit) // to the end of the gzip stream, for its checksum
			if err == nil && limit.N == 0 {
				err = fmt.Errorf("more than %d bytes", int64(mostRead))
			}
			return err
		}
		if err != nil {
			return fmt.Errorf("not a whole archive: %w", err)
		}
		if head.Typeflag == tar.TypeReg {
			if err := visit(head.Name, head.Size, archive); err != nil {
				return err
			}
		}
	}
}
