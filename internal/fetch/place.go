package fetch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"winnow/internal/atomicfile"
	"winnow/internal/regular"
)

// brokenError is an error of the connection: trying again may help.
type brokenError struct{ error }

func (e *brokenError) Error() string {
	if errors.Is(e.error, io.ErrUnexpectedEOF) {
		return "the connection was cut"
	}
	return e.error.Error()
}

func (e *brokenError) Unwrap() error { return e.error }

// Remote reports whether a place is an address, not a file.
func Remote(place string) bool {
	return strings.HasPrefix(place, "http://") || strings.HasPrefix(place, "https://")
}

// transferPart fetches what is missing in one request, or copies a local file.
func (d *download) transferPart(ctx context.Context, place string) error {
	if !Remote(place) {
		return d.copyLocalFile(ctx, place)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alive := time.AfterFunc(d.Stall, func() { cancel(fmt.Errorf("no byte came for %v", d.Stall)) })
	defer alive.Stop()
	err := d.requestPart(ctx, place, func() { alive.Reset(d.Stall) })
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return &brokenError{cause}
	}
	return err
}

// requestPart requests the file from where the part ends. heard is called whenever bytes arrive.
func (d *download) requestPart(ctx context.Context, place string, heard func()) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return err
	}
	at := d.measurePart()
	req.Header.Set("Accept-Encoding", "identity") // a compressed transfer could not be resumed
	if at > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", at))
		if tag := d.readPartTag(place); tag != "" {
			req.Header.Set("If-Range", tag)
		}
	}
	res, err := d.client.Do(req)
	if name, ok := errors.AsType[*net.DNSError](err); ok && name.IsNotFound {
		return fmt.Errorf("no such host: %s", name.Name)
	} else if err != nil {
		return &brokenError{shortenError(err)}
	}
	defer res.Body.Close()
	if at, err = d.readAnswerHead(res, place, at); err != nil {
		return err
	}
	body := &listener{res.Body, heard}
	if at > 0 {
		return d.appendToPart(body, at)
	}
	first := bufio.NewReader(body)
	if err := d.sniffContent(first, res.ContentLength); err != nil {
		return err
	}
	if err := d.keepTag(place, res.Header.Get("ETag")); err != nil {
		return err
	}
	if err := d.appendToPart(first, 0); err != nil {
		return err
	}
	if n := d.measurePart(); n < d.Size && res.ContentLength < 0 { // a clean end of an answer without a length
		return &brokenError{errors.New("the answer ended early")}
	}
	return nil
}

// readAnswerHead reads the head of an answer and returns the position of its bytes in the file.
func (d *download) readAnswerHead(res *http.Response, place string, at int64) (int64, error) {
	switch code := res.StatusCode; {
	case code == http.StatusOK:
		if at > 0 {
			d.noteDownload("%s: cannot resume in the middle: starting again", place)
			return 0, d.resetPart()
		}
		return 0, nil
	case code == http.StatusPartialContent && at > 0:
		from, total := contentRange(res.Header.Get("Content-Range"))
		if total >= 0 && total != d.Size {
			return 0, fmt.Errorf("found a file of %d bytes, expected %d: it is another version", total, d.Size)
		}
		if from == at {
			return at, nil
		}
		err := &brokenError{fmt.Errorf("sent bytes from %d on, expected from %d on", from, at)}
		return 0, errors.Join(err, d.resetPart())
	case code == http.StatusRequestedRangeNotSatisfiable && at > 0:
		return 0, errors.Join(&brokenError{errors.New("has no bytes where the part ends")}, d.resetPart())
	case code >= 500, code == http.StatusRequestTimeout, code == http.StatusTooManyRequests:
		return 0, &brokenError{errors.New("answered " + res.Status)}
	}
	return 0, errors.New("answered " + res.Status)
}

// contentRange parses "bytes FROM-TO/TOTAL"; missing numbers are -1.
func contentRange(text string) (from, total int64) {
	span, all, _ := strings.Cut(strings.TrimPrefix(text, "bytes "), "/")
	first, _, _ := strings.Cut(span, "-")
	number := func(s string) int64 {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= 0 {
			return n
		}
		return -1
	}
	return number(first), number(all)
}

// sniffContent checks the beginning and the length (-1: unknown) of what a place sends. Instead of a model a place
// often has a web page that explains why it is missing, or a Git LFS pointer.
func (d *download) sniffContent(in *bufio.Reader, length int64) error {
	head, _ := in.Peek(512)
	switch {
	case bytes.HasPrefix(head, []byte("version https://git-lfs.github.com/spec/")):
		return errors.New("found a Git LFS pointer instead of the file: its storage does not serve it there")
	case strings.HasPrefix(http.DetectContentType(head), "text/html"):
		return errors.New("found a web page instead of the file")
	case length >= 0 && length != d.Size:
		return fmt.Errorf("found a file of %d bytes, expected %d: it is another version", length, d.Size)
	}
	return nil
}

// readPartTag returns the ETag under which the part was begun, if it came from this place and is a strong one.
func (d *download) readPartTag(place string) string {
	data, err := regular.ReadFile(filepath.Join(d.dir, "tag"), regular.Most)
	if err != nil {
		return ""
	}
	tag, from, _ := strings.Cut(string(data), " ")
	if from != place || !strings.HasPrefix(tag, `"`) { // a weak tag does not guarantee the same bytes
		return ""
	}
	return tag
}

func (d *download) keepTag(place, tag string) error {
	line := strings.ReplaceAll(tag, " ", "") + " " + place
	if err := atomicfile.WriteBytes(filepath.Join(d.dir, "tag"), []byte(line)); err != nil {
		return d.explainLocal(err)
	}
	return nil
}

// copyLocalFile copies the file from a path on this machine.
func (d *download) copyLocalFile(ctx context.Context, path string) error {
	in, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := d.resetPart(); err != nil {
		return err
	}
	first := bufio.NewReader(in)
	if err := d.sniffContent(first, info.Size()); err != nil {
		return err
	}
	err = d.appendToPart(untilDone{ctx, first}, 0)
	if b, ok := errors.AsType[*brokenError](err); ok {
		return b.error // retrying a local file does not help
	}
	return err
}

// listener calls heard whenever bytes arrive.
type listener struct {
	io.Reader
	heard func()
}

// Read implements io.Reader.
func (l *listener) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if n > 0 {
		l.heard()
	}
	return n, err
}

// untilDone is a reader that ends with its context.
type untilDone struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (u untilDone) Read(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, u.ctx.Err()
	}
	return u.Reader.Read(p)
}

// shortenError removes the method and the address from an error, since the message names the place already.
func shortenError(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
