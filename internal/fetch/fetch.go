// Package fetch downloads a file of known size and sha256 from the first of several places that has it. A partial
// download stays next to the file until it is complete, and the next call resumes it.
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

// stall is the time without a received byte after which a transfer is aborted.
const stall = time.Minute

// Unavailable is the error if no place had the file; Places holds the error of each place.
type Unavailable struct{ Places []string }

func (e *Unavailable) Error() string { return strings.Join(e.Places, "; ") }

// IsAddress reports whether a place is a URL rather than a file.
func IsAddress(place string) bool {
	return strings.HasPrefix(place, "http://") || strings.HasPrefix(place, "https://")
}

// Source is a file and the places to download it from.
type Source struct {
	Name   string
	Size   int64
	SHA256 string   // hex
	Places []string // http:// or https:// addresses or file paths, tried in order
}

// download is a transfer in progress. The received part of the file is in path.part, which stays after an error so that
// the next call can resume.
type download struct {
	Source
	part          *os.File
	done, earlier int64 // bytes in part, now and at the start
	progress      func(done, total, earlier int64)
}

// File downloads a file to path, which must not exist, from the first of its places that has it.
//
// note reports a place that failed. progress reports the bytes received, in total, and from an earlier transfer.
func File(ctx context.Context, file Source, path string, note func(fact string),
	progress func(done, total, earlier int64)) error {
	part, err := regular.OpenOwn(path+".part", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer part.Close()
	if held, err := lock.File(part); err == nil && !held {
		return fmt.Errorf("%s: another winnow process is downloading this file", part.Name())
	}
	d := &download{Source: file, part: part, progress: progress}
	if d.earlier, err = part.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	d.done = d.earlier
	var failed []string
	for _, place := range file.Places {
		resumed := d.done > 0
		err := d.fetchFrom(ctx, place)
		if errors.Is(err, errOther) && resumed { // the part belonged to another file
			err = d.fetchFrom(ctx, place)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			if err = errors.Join(part.Sync(), os.Rename(part.Name(), path)); err != nil {
				return err
			}
			return atomicfile.SyncDir(filepath.Dir(path))
		}
		failed = append(failed, fmt.Sprintf("%s: %v", place, err))
		if note != nil && len(failed) < len(file.Places) {
			note(failed[len(failed)-1])
		}
	}
	if d.done == 0 { // nothing to resume
		os.Remove(part.Name())
	}
	return &Unavailable{failed}
}

// errOther reports that a place has a file with another content.
var errOther = errors.New("another version or a damaged file")

// fetchFrom appends the missing bytes from one place and checks the sha256. If it is wrong, the part is deleted.
func (d *download) fetchFrom(ctx context.Context, place string) error {
	if d.done < d.Size {
		if err := d.appendFrom(ctx, place); err != nil {
			return err
		}
	}
	h := sha256.New()
	n, err := io.Copy(h, io.NewSectionReader(d.part, 0, d.done))
	if sum := hex.EncodeToString(h.Sum(nil)); err == nil && (n != d.Size || sum != d.SHA256) {
		err = errors.Join(fmt.Errorf("found %d bytes with sha256 %s, expected %d with %s: %w", n, sum, d.Size, d.SHA256,
			errOther), d.startAgain())
	}
	return err
}

// startAgain deletes the received part.
func (d *download) startAgain() error {
	d.done, d.earlier = 0, 0
	return d.part.Truncate(0)
}

// appendFrom appends the bytes sent by a place.
func (d *download) appendFrom(ctx context.Context, place string) error {
	if !IsAddress(place) {
		in, err := regular.Open(place)
		if err != nil {
			return err
		}
		defer in.Close()
		if err := d.startAgain(); err != nil {
			return err
		}
		return d.copyFrom(ctx, in, nil)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alive := time.AfterFunc(stall, func() { cancel(fmt.Errorf("received no byte for %v", stall)) })
	defer alive.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept-Encoding", "identity") // a compressed transfer could not be resumed
	if d.done > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.done))
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return cmp.Or(errors.Unwrap(err), err) // without the address, which File adds
	}
	defer res.Body.Close()
	from := fmt.Sprintf("bytes %d-", d.done)
	switch code := res.StatusCode; {
	case code == http.StatusOK:
		err = d.startAgain()
	case code != http.StatusPartialContent || !strings.HasPrefix(res.Header.Get("Content-Range"), from):
		err = errors.New("answered " + res.Status)
	}
	if err != nil {
		return err
	}
	return d.copyFrom(ctx, res.Body, func() { alive.Reset(stall) })
}

// copyFrom appends the bytes read from in, at most one more than the file has. It calls heard whenever bytes arrive.
func (d *download) copyFrom(ctx context.Context, in io.Reader, heard func()) error {
	buf := make([]byte, 1<<16)
	for d.done <= d.Size {
		n, err := in.Read(buf)
		if n > 0 {
			if heard != nil {
				heard()
			}
			if _, err := d.part.WriteAt(buf[:n], d.done); err != nil {
				return err
			}
			d.done += int64(n)
			d.progress(min(d.done, d.Size), d.Size, d.earlier)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, io.EOF) && d.done < d.Size:
			return io.ErrUnexpectedEOF
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// Sum returns the sha256 of a file in hex.
func Sum(path string) (string, error) {
	f, err := regular.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}
