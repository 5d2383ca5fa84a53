package ortlib

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"winnow/internal/atomicfile"
	"winnow/internal/interrupt"
)

// taking is the state of installing from one source.
type taking struct {
	InstallOptions
	ctx    context.Context
	name   string   // name of the source, for the record
	left   []string // wanted files not found yet
	passed []string // libraries for another platform, or incomplete
	have   record
}

// errDone ends a visit when nothing more is wanted.
var errDone = errors.New("everything wanted is there")

// takeFiles installs the wanted files from a source. If some are missing it installs the others and returns an
// error.
func (o InstallOptions) takeFiles(ctx context.Context, source, name string, wanted []string) error {
	t := &taking{o, ctx, name, slices.Clone(wanted), nil, readRecord(o.Folder)}
	err := visitSource(ctx, source, t.installFile)
	if errors.Is(err, errDone) {
		err = nil
	}
	if len(t.left) < len(wanted) {
		if writeErr := t.have.writeInstallRecord(o.Folder); writeErr != nil && err == nil {
			err = writeErr
		}
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("ortlib: install from %s: the archive is cut short", source)
	case err != nil:
		return fmt.Errorf("ortlib: install from %s: %w", source, err)
	case len(t.left) > 0 && len(t.passed) > 0:
		return fmt.Errorf("ortlib: install from %s: found %s, expected %s for %v",
			source, strings.Join(t.passed, ", "), strings.Join(t.left, ", "), o.platform)
	case len(t.left) > 0:
		return fmt.Errorf("ortlib: install from %s: found no %s for %v", source, strings.Join(t.left, ", "), o.platform)
	}
	return nil
}

// installFile installs a file of the source if it is wanted and fits.
func (t *taking) installFile(member string, size int64, content io.Reader) error {
	target := t.platform.nameInstalled(member)
	if !slices.Contains(t.left, target) {
		return nil
	}
	buffered := bufio.NewReaderSize(content, headSize)
	head, err := buffered.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	p, ok := platformOf(head)
	switch {
	case !ok && size < headSize:
		return nil // a linker script, or a text file in place of a link
	case !ok:
		t.passed = append(t.passed, member+" (not a library)")
		return nil
	case p != t.platform:
		t.passed = append(t.passed, fmt.Sprintf("%s (%v)", member, p))
		return nil
	case size > largest:
		t.passed = append(t.passed, fmt.Sprintf("%s (%d bytes)", member, size))
		return nil
	}
	sum, err := t.putLibrary(target, size, buffered)
	if err != nil {
		return err
	}
	t.Note("installed " + filepath.Join(t.Folder, target))
	t.have.Files[target], t.have.Sources[target] = sum, t.name
	t.left = slices.DeleteFunc(t.left, func(n string) bool { return n == target })
	if len(t.left) == 0 {
		return errDone
	}
	return nil
}

// putLibrary writes one file into the folder, completely or not at all, and returns its sha256.
func (t *taking) putLibrary(target string, size int64, content io.Reader) (string, error) {
	h := sha256.New()
	err := atomicfile.Write(filepath.Join(t.Folder, target), func(w io.Writer) error {
		n, err := io.Copy(io.MultiWriter(w, h), interrupt.NewReader(t.ctx, content))
		if err == nil && n != size {
			err = fmt.Errorf("%s: found %d bytes, expected %d", target, n, size)
		}
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}
