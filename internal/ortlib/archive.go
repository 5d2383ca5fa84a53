package ortlib

import (
	"archive/tar"
	"archive/zip"
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

// visitor receives the files of a source. archive is called before an archive is opened and reports whether its
// bytes are known to be right. file is called with the name and content of each regular file. An error of
// either ends the visit.
type visitor struct {
	archive func(path string) (sound bool, err error)
	file    func(name string, size int64, content io.Reader) error
}

// visitSource walks an archive (.tgz, .tar.gz, .zip), a folder, including archives directly in it, or a single file.
func visitSource(ctx context.Context, source string, v visitor) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return visitFolder(ctx, source, v)
	}
	return visitFile(ctx, source, info.Size(), v)
}

func visitFile(ctx context.Context, path string, size int64, v visitor) error {
	if isTar(path) || isZip(path) {
		sound, err := v.archive(path)
		switch {
		case err != nil:
			return err
		case isZip(path):
			return visitZip(ctx, path, v)
		case !sound:
			// gzip's checksum is at the end, after the library: without this pass a damaged library would be
			// installed before the damage is noticed. A zip file has a checksum for each file.
			if err := visitTar(ctx, path, func(string, int64, io.Reader) error { return nil }); err != nil {
				return err
			}
		}
		return visitTar(ctx, path, v.file)
	}
	file, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return v.file(filepath.ToSlash(path), size, file)
}

func isTar(path string) bool {
	return strings.HasSuffix(path, ".tgz") || strings.HasSuffix(path, ".tar.gz")
}

func isZip(path string) bool { return strings.HasSuffix(path, ".zip") }

// visitFolder walks a folder's files in the order of their names, following links to files.
func visitFolder(ctx context.Context, folder string, v visitor) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return nil // a dangling link, a socket
		}
		if (isTar(path) || isZip(path)) && filepath.Dir(path) != filepath.Clean(folder) {
			return nil
		}
		return visitFile(ctx, path, info.Size(), v)
	})
}

func visitTar(ctx context.Context, path string, visit func(name string, size int64, content io.Reader) error) error {
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

func visitZip(ctx context.Context, path string, v visitor) error {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return fmt.Errorf("not a whole archive: %w", err)
	}
	defer archive.Close()
	for _, member := range archive.File {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !member.Mode().IsRegular() || member.UncompressedSize64 > largest {
			continue
		}
		if err := visitMember(member, v); err != nil {
			return err
		}
	}
	return nil
}

func visitMember(member *zip.File, v visitor) error {
	content, err := member.Open()
	if err != nil {
		return fmt.Errorf("%s: %w", member.Name, err)
	}
	defer content.Close()
	return v.file(member.Name, int64(member.UncompressedSize64), content)
}
