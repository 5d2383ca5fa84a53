// Package fetch downloads a file of known size and sha256 from the first of several places that has it. What has
// arrived stays next to the file until it is complete, and the next call resumes it. The file gets its own name only
// after its size and sha256 are checked.
package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
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

// Unavailable is the error when no place had the file; it says what was wrong with each.
type Unavailable struct{ Places []string }

func (e *Unavailable) Error() string { return strings.Join(e.Places, "; ") }

// Remote reports whether a place is an address, not a file.
func Remote(place string) bool {
	return strings.HasPrefix(place, "http://") || strings.HasPrefix(place, "https://")
}

// To fetches the file to path, which must not exist. Until the file is complete its part is in the folder
// path.part, even after an error or the end of ctx; the next call resumes it.
func (f File) To(ctx context.Context, path string, o Options) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("fetch: %s: is there already, expected nothing", path)
	}
	dir := path + ".part"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	held, err := lock.Folder(dir)
	if err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	defer held.Close()
	part, err := regular.OpenOwn(filepath.Join(dir, "file"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	d := &download{File: f, Options: o, part: part}
	if d.earlier, err = part.Seek(0, io.SeekEnd); err == nil {
		d.done = d.earlier
		err = d.tryPlaces(ctx)
	}
	if err = errors.Join(err, part.Sync(), part.Close()); err == nil {
		if err = os.Rename(part.Name(), path); err == nil {
			err = atomicfile.SyncDir(filepath.Dir(path))
		}
	}
	if d.done == 0 || err == nil { // nothing to resume
		os.RemoveAll(dir)
	}
	return err
}

// download is a transfer in progress.
type download struct {
	File
	Options
	part          *os.File
	done, earlier int64 // bytes in part, now and at the beginning
}

// tryPlaces fetches the file from the first place that has it.
func (d *download) tryPlaces(ctx context.Context) error {
	var failed []string
	for i, place := range d.Places {
		resumed := d.done > 0
		err := d.fetchFrom(ctx, place)
		if _, different := errors.AsType[*differentError](err); different && resumed {
			d.noteFact("%s: %v: starting again", place, err)
			err = d.fetchFrom(ctx, place)
		}
		if err == nil || ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
		failed = append(failed, fmt.Sprintf("%s: %v", place, err))
		if i+1 < len(d.Places) {
			d.noteFact("%s: %v; trying the next place", place, err)
		}
	}
	return &Unavailable{failed}
}

// differentError says that a place has another file.
type differentError struct{ error }

// fetchFrom fetches what is missing from one place and checks the result. It repeats a broken transfer as long as it
// makes progress now and then.
func (d *download) fetchFrom(ctx context.Context, place string) error {
	wait := cmp.Or(d.Wait, time.Second)
	for left := attempts; d.done < d.Size; {
		before := d.done
		again, err := d.transferPart(ctx, place)
		if err != nil && (!again || ctx.Err() != nil) {
			return err
		}
		if left--; d.done > before {
			left = attempts
		}
		if err != nil && left == 0 {
			return err
		}
		if err != nil {
			d.noteFact("%s: %v after %d of %d bytes: resuming", place, err, d.done, d.Size)
			select {
			case <-ctx.Done():
			case <-time.After(wait << (attempts - left)):
			}
		}
	}
	sum, n, err := Sum(d.part.Name())
	if err == nil && (n != d.Size || sum != d.SHA256) {
		err = &differentError{errors.Join(fmt.Errorf("found %d bytes with sha256 %s, expected %d with %s: it "+
			"is another version, or damaged", n, sum, d.Size, d.SHA256), d.clearPart())}
	}
	return err
}

// clearPart deletes what has arrived.
func (d *download) clearPart() error {
	d.done, d.earlier = 0, 0
	return d.part.Truncate(0)
}

func (d *download) noteFact(format string, args ...any) {
	if d.Note != nil {
		d.Note(fmt.Sprintf(format, args...))
	}
}

// transferPart appends what a place sends to the part, and reports whether to try again after an error.
func (d *download) transferPart(ctx context.Context, place string) (again bool, err error) {
	if !Remote(place) {
		in, err := regular.Open(place)
		if err != nil {
			return false, err
		}
		defer in.Close()
		if err := d.clearPart(); err != nil {
			return false, err
		}
		_, err = d.appendPart(ctx, in, func() {})
		return false, err
	}
	stall := cmp.Or(d.Stall, time.Minute)
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	alive := time.AfterFunc(stall, cancel)
	defer alive.Stop()
	again, err = d.requestPart(inner, place, func() { alive.Reset(stall) })
	if inner.Err() != nil && ctx.Err() == nil {
		return true, fmt.Errorf("no byte came for %v", stall)
	}
	return again, err
}

// requestPart requests what is missing; heard is called whenever bytes arrive.
func (d *download) requestPart(ctx context.Context, place string, heard func()) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return false, err
	}
	req.Header.Set("Accept-Encoding", "identity") // a compressed transfer could not be resumed
	if d.done > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.done))
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return true, err
	}
	defer res.Body.Close()
	answered := errors.New("answered " + res.Status)
	switch code := res.StatusCode; {
	case code == http.StatusOK:
		err = d.clearPart()
	case code == http.StatusPartialContent &&
		strings.HasPrefix(res.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", d.done)):
	case code == http.StatusPartialContent, code == http.StatusRequestedRangeNotSatisfiable:
		return true, errors.Join(answered, d.clearPart())
	default:
		return code >= 500 || code == http.StatusTooManyRequests, answered
	}
	if err != nil {
		return false, err
	}
	return d.appendPart(ctx, res.Body, heard)
}

// appendPart appends what is read to the part; heard is called whenever bytes arrive.
func (d *download) appendPart(ctx context.Context, in io.Reader, heard func()) (again bool, err error) {
	buf := make([]byte, 1<<16)
	for ctx.Err() == nil {
		n, readErr := in.Read(buf)
		if n > 0 {
			heard()
			if _, err := d.part.WriteAt(buf[:n], d.done); err != nil {
				return false, err
			}
			if d.done += int64(n); d.Progress != nil {
				d.Progress(min(d.done, d.Size), d.Size, d.earlier)
			}
		}
		switch {
		case d.done > d.Size:
			return false, &differentError{errors.Join(fmt.Errorf("found more than %d bytes", d.Size), d.clearPart())}
		case errors.Is(readErr, io.EOF) && d.done < d.Size:
			return true, io.ErrUnexpectedEOF
		case errors.Is(readErr, io.EOF):
			return false, nil
		case readErr != nil:
			return true, readErr
		}
	}
	return true, ctx.Err()
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
