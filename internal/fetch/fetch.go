// Package fetch downloads a file of known size and sha256 from the first of several places that has it. The
// downloaded part stays next to the file until it is complete, so that a broken transfer can be resumed. The
// file gets its own name only after its size and sha256 are checked.
package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"winnow/internal/atomicfile"
	"winnow/internal/lock"
	"winnow/internal/regular"
)

// File is the file to fetch.
type File struct {
	Size   int64
	SHA256 string // hex
}

// Options say where to fetch from and whom to notify.
type Options struct {
	Places   []string                         // http:// or https:// addresses, or paths of files, tried in order
	Note     func(fact string)                // called when a place fails or a transfer resumes; may be nil
	Progress func(done, total, earlier int64) // bytes done, in total, and from an earlier transfer; may be nil
	Wait     time.Duration                    // wait before the first retry, doubled for each further one; 0: 1 s
	Stall    time.Duration                    // time without a byte after which a transfer is broken; 0: 1 min
}

// attempts is how often in a row a transfer may break without receiving a byte.
const attempts = 4

// To fetches the file to path, which must not exist. Until the file is complete its part is in the folder
// path.part, even after an error or the end of ctx; the next call resumes it.
func (f File) To(ctx context.Context, path string, o Options) error {
	d, held, err := f.beginDownload(path, o)
	if err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	defer func() {
		if d.measurePart() == 0 { // nothing to resume
			os.RemoveAll(d.dir)
		}
		held.Close()
	}()
	for i, place := range o.Places {
		err := d.fetchFrom(ctx, place)
		switch {
		case err == nil:
			return d.renamePart(path)
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, new(*localError)):
			return fmt.Errorf("fetch: %w", err)
		}
		d.failed = append(d.failed, fmt.Sprintf("%s: %v", place, err))
		if i+1 < len(o.Places) {
			d.noteDownload("%s: %v; trying the next place", place, err)
		}
	}
	return &Unavailable{d.failed}
}

// Unavailable is the error when no place had the file; it says what was wrong with each.
type Unavailable struct{ Places []string }

func (e *Unavailable) Error() string { return strings.Join(e.Places, "; ") }

// localError is an error of this machine: another place would not help.
type localError struct{ error }

func (e *localError) Unwrap() error { return e.error }

// download is a transfer in progress.
type download struct {
	File
	Options
	client  *http.Client
	dir     string // folder of the part and its ETag
	earlier int64  // bytes from an earlier transfer
	failed  []string
}

// beginDownload creates or finds the folder of the part and locks it.
func (f File) beginDownload(path string, o Options) (*download, io.Closer, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, nil, fmt.Errorf("%s: is there already, expected nothing", path)
	}
	d := &download{File: f, Options: o, dir: path + ".part"}
	if d.Wait == 0 {
		d.Wait = time.Second
	}
	if d.Stall == 0 {
		d.Stall = time.Minute
	}
	d.client = newHTTPClient(d.Stall)
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return nil, nil, err
	}
	held, err := lock.Folder(d.dir)
	if err != nil {
		return nil, nil, err
	}
	if d.earlier = d.measurePart(); d.earlier > 0 {
		d.noteDownload("resuming with the %d of %d bytes in %s", d.earlier, f.Size, d.dir)
	}
	return d, held, nil
}

func (d *download) makePartPath() string { return filepath.Join(d.dir, "file") }

// measurePart returns the size of the part.
func (d *download) measurePart() int64 {
	info, err := os.Stat(d.makePartPath())
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// resetPart deletes the part, because it is of another file.
func (d *download) resetPart() error {
	if err := os.Remove(d.makePartPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &localError{err}
	}
	d.earlier = 0
	return nil
}

func (d *download) noteDownload(format string, args ...any) {
	if d.Note != nil {
		d.Note(fmt.Sprintf(format, args...))
	}
}

func (d *download) showDownloaded(done int64) {
	if d.Progress != nil {
		d.Progress(done, d.Size, d.earlier)
	}
}

// fetchFrom fetches what is missing from one place and checks the result. A part that was begun before, perhaps from
// another place, and proves wrong is deleted, and the file is fetched once more.
func (d *download) fetchFrom(ctx context.Context, place string) error {
	begun := d.measurePart() > 0
	if d.measurePart() > d.Size {
		if err := d.resetPart(); err != nil {
			return err
		}
	}
	if err := d.retryTransfer(ctx, place); err != nil {
		return err
	}
	err := d.checkPart()
	if err == nil || errors.As(err, new(*localError)) {
		return err
	}
	if reset := d.resetPart(); reset != nil || !begun {
		return errors.Join(reset, err)
	}
	d.noteDownload("%s: what was there from an earlier transfer is of another file: starting again", place)
	return d.fetchFrom(ctx, place)
}

// retryTransfer retries a transfer as long as only the connection breaks and it makes progress now and then.
func (d *download) retryTransfer(ctx context.Context, place string) error {
	wait, left := d.Wait, attempts
	for d.measurePart() < d.Size {
		before := d.measurePart()
		err := d.transferPart(ctx, place)
		if err == nil || ctx.Err() != nil || !errors.As(err, new(*brokenError)) {
			if err != nil {
				return err
			}
			continue
		}
		if left--; d.measurePart() > before {
			wait, left = d.Wait, attempts
		}
		if left == 0 {
			return err
		}
		d.noteDownload("%s: %v after %d of %d bytes: resuming in %v", place, err, d.measurePart(), d.Size, wait)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		wait *= 2
	}
	return nil
}

// checkPart compares the complete part with the known size and sha256.
func (d *download) checkPart() error {
	sum, n, err := Sum(d.makePartPath())
	if err != nil {
		return &localError{err}
	}
	if n != d.Size || sum != d.SHA256 {
		return fmt.Errorf("found %d bytes with sha256 %s, expected %d with %s: it is another version, or damaged",
			n, sum, d.Size, d.SHA256)
	}
	return nil
}

// Sum returns the sha256 of a file in hex, and its bytes.
func Sum(path string) (sum string, bytes int64, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	bytes, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), bytes, err
}

// renamePart renames the checked part to path.
func (d *download) renamePart(path string) error {
	err := os.Rename(d.makePartPath(), path) // store has synced it
	if err == nil {
		err = atomicfile.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	return nil
}

// appendToPart appends what a place sends to the part, at most the file's size, and syncs it even after an error.
func (d *download) appendToPart(in io.Reader, at int64) (err error) {
	f, err := d.openPartFile(at)
	if err != nil {
		return d.explainLocal(err)
	}
	defer func() {
		if closed := errors.Join(f.Sync(), f.Close()); closed != nil && err == nil {
			err = d.explainLocal(closed)
		}
	}()
	buf := make([]byte, 1<<16)
	for {
		n, readErr := in.Read(buf[:min(int64(len(buf)), d.Size-at+1)])
		if n > 0 {
			if _, err := f.Write(buf[:n]); err != nil {
				return d.explainLocal(err)
			}
			at += int64(n)
			d.showDownloaded(min(at, d.Size))
		}
		switch {
		case at > d.Size:
			err := fmt.Errorf("found more than %d bytes, expected %[1]d: it is another version", d.Size)
			return errors.Join(err, d.resetPart())
		case readErr == io.EOF:
			return nil
		case readErr != nil:
			return &brokenError{readErr}
		}
	}
}

// openPartFile opens the part for writing from position at.
func (d *download) openPartFile(at int64) (*os.File, error) {
	if at == 0 {
		return regular.OpenOwn(d.makePartPath(), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	}
	f, err := regular.OpenOwn(d.makePartPath(), os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// explainLocal wraps an error of writing and says what to do about it.
func (d *download) explainLocal(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("%s: the disk is full: make room for %d bytes and run the same command again, which resumes",
			d.dir, d.Size-d.measurePart())
	}
	return &localError{err}
}

// newHTTPClient is Go's default HTTP client, with proxies from the environment, that gives up on servers that do not
// answer.
func newHTTPClient(patience time.Duration) *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = patience
	return &http.Client{Transport: t}
}
