package ortlib

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/internal/atomicfile"
	"winnow/internal/interrupt"
	"winnow/internal/regular"
)

// mostRead limits the size of an unpacked archive in bytes. The largest known archive has 450 MB.
const mostRead = 8 << 30

// unpacking is the state of an installation from one source.
type unpacking struct {
	InstallOptions
	ctx    context.Context
	work   string   // folder for unpacked files
	left   []string // wanted files that were not found yet
	passed []string // libraries skipped because they are for another platform
}

// unpackLibraries installs the wanted files from an archive (.tgz, .tar.gz) or from a library file. It moves them into
// the folder only after reading the whole source without an error, because gzip's checksum is at the end.
func (o InstallOptions) unpackLibraries(ctx context.Context, source string, wanted []string) error {
	work, err := os.MkdirTemp(o.Folder, ".unpack-")
	if err != nil {
		return fmt.Errorf("ortlib: install: %w", err)
	}
	defer os.RemoveAll(work)
	u := &unpacking{o, ctx, work, slices.Clone(wanted), nil}
	switch err := u.readSource(source); {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("ortlib: install from %s: the archive is cut short", source)
	case err != nil:
		return fmt.Errorf("ortlib: install from %s: %w", source, err)
	case len(u.left) > 0:
		found := "nothing"
		if u.passed != nil {
			found = strings.Join(u.passed, ", ")
		}
		return fmt.Errorf("ortlib: install from %s: found %s, expected %s for %v", source, found,
			strings.Join(u.left, ", "), o.platform)
	}
	for _, name := range wanted {
		if err := os.Rename(filepath.Join(work, name), filepath.Join(o.Folder, name)); err != nil {
			return fmt.Errorf("ortlib: install: %w", err)
		}
		o.Note("installed " + filepath.Join(o.Folder, name))
	}
	return nil
}

func (u *unpacking) readSource(source string) error {
	file, err := regular.Open(source)
	if err != nil {
		return err
	}
	defer file.Close()
	if !strings.HasSuffix(source, ".tgz") && !strings.HasSuffix(source, ".tar.gz") {
		return u.takeLibrary(source, file)
	}
	unzipped, err := gzip.NewReader(bufio.NewReaderSize(interrupt.NewReader(u.ctx, file), 1<<16))
	if err != nil {
		return fmt.Errorf("is not a gzip archive: %v", err)
	}
	limit := &io.LimitedReader{R: unzipped, N: mostRead}
	archive := tar.NewReader(limit)
	for {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, limit) // to the end of the gzip stream, for its checksum
			if err == nil && limit.N == 0 {
				err = fmt.Errorf("has more than %d bytes", int64(mostRead))
			}
			return err
		}
		if err != nil {
			return fmt.Errorf("is not a complete archive: %w", err)
		}
		if head.Typeflag == tar.TypeReg {
			if err := u.takeLibrary(head.Name, archive); err != nil {
				return err
			}
		}
	}
}

// takeLibrary unpacks a file if it is needed and belongs to the platform.
func (u *unpacking) takeLibrary(member string, content io.Reader) error {
	target := u.platform.nameInstalled(member)
	if !slices.Contains(u.left, target) {
		return nil
	}
	buffered := bufio.NewReaderSize(content, headSize)
	head, err := buffered.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if p, ok := platformOf(head); p != u.platform {
		if ok { // otherwise a linker script, or a text file instead of a link
			u.passed = append(u.passed, fmt.Sprintf("%s (%v)", member, p))
		}
		return nil
	}
	u.left = slices.DeleteFunc(u.left, func(n string) bool { return n == target })
	return atomicfile.Write(filepath.Join(u.work, target), func(w io.Writer) error {
		_, err := io.Copy(w, interrupt.NewReader(u.ctx, buffered))
		return err
	})
}
