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
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"winnow/internal/regular"
)

// brokenError is a connection's: trying again may help.
type brokenError struct{ error }

func (e *brokenError) Error() string {
	if errors.Is(e.error, io.ErrUnexpectedEOF) {
		return "the connection was cut"
	}
	return e.error.Error()
}

func (e *brokenError) Unwrap() error { return e.error }

// Remote reports whether a place is an address, and not a file.
func Remote(place string) bool {
	return strings.HasPrefix(place, "http://") || strings.HasPrefix(place, "https://")
}

// transfer brings what is missing in one request, or all of it.
func (d *download) transfer(ctx context.Context, place string) error {
	if !Remote(place) {
		return d.copy(ctx, place)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alive := time.AfterFunc(d.Stall, func() { cancel(fmt.Errorf("no byte came for %v", d.Stall)) })
	defer alive.Stop()
	err := d.request(ctx, place, func() { alive.Reset(d.Stall) })
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return &brokenError{cause}
	}
	return err
}

// request asks for the file from where the part ends. heard is called whenever bytes come.
func (d *download) request(ctx context.Context, place string, heard func()) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return err
	}
	at := d.have()
	req.Header.Set("Accept-Encoding", "identity") // packed bytes could not be gone on with
	if at > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", at))
		if tag := d.tag(place); tag != "" {
			req.Header.Set("If-Range", tag)
		}
	}
	res, err := d.client.Do(req)
	if name, ok := errors.AsType[*net.DNSError](err); ok && name.IsNotFound {
		return fmt.Errorf("no such host: %s", name.Name)
	} else if err != nil {
		return &brokenError{shortened(err)}
	}
	defer res.Body.Close()
	if at, err = d.start(res, place, at); err != nil {
		return err
	}
	body := &listener{res.Body, heard}
	if at > 0 {
		return d.store(body, at)
	}
	first := bufio.NewReader(body)
	if err := d.sniff(first, res.ContentLength); err != nil {
		return err
	}
	if err := d.keepTag(place, res.Header.Get("ETag")); err != nil {
		return err
	}
	if err := d.store(first, 0); err != nil {
		return err
	}
	if n := d.have(); n < d.Size && res.ContentLength < 0 { // a clean end, and no word of how much there is
		return &brokenError{errors.New("the answer ended early")}
	}
	return nil
}

// start looks at the head of an answer and returns where its bytes belong.
func (d *download) start(res *http.Response, place string, at int64) (int64, error) {
	switch code := res.StatusCode; {
	case code == http.StatusOK:
		if at > 0 {
			d.note("%s: does not go on in the middle: starting again", place)
			return 0, d.reset()
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
		return 0, errors.Join(&brokenError{fmt.Errorf("sent bytes from %d on, expected from %d on", from, at)}, d.reset())
	case code == http.StatusRequestedRangeNotSatisfiable && at > 0:
		return 0, errors.Join(&brokenError{errors.New("has no bytes where the part ends")}, d.reset())
	case code >= 500, code == http.StatusRequestTimeout, code == http.StatusTooManyRequests:
		return 0, &brokenError{errors.New("answered " + res.Status)}
	}
	return 0, errors.New("answered " + res.Status)
}

// contentRange reads "bytes FROM-TO/TOTAL"; what is not said is -1.
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

// sniff looks at the beginning of what a place has, and at its length (-1: not told): what stands there in a model's place is
// mostly a page that explains why it is not there, or the pointer of Git LFS.
func (d *download) sniff(in *bufio.Reader, length int64) error {
	head, _ := in.Peek(512)
	switch {
	case bytes.HasPrefix(head, []byte("version https://git-lfs.github.com/spec/")):
		return errors.New("found the pointer of Git LFS instead of the file: its storage does not serve it there")
	case strings.HasPrefix(http.DetectContentType(head), "text/html"):
		return errors.New("found a web page instead of the file")
	case length >= 0 && length != d.Size:
		return fmt.Errorf("found a file of %d bytes, expected %d: it is another version", length, d.Size)
	}
	return nil
}

// tag returns the ETag that the part was begun under, if it came from this place and can be relied on.
func (d *download) tag(place string) string {
	data, err := os.ReadFile(filepath.Join(d.dir, "tag"))
	if err != nil {
		return ""
	}
	tag, from, _ := strings.Cut(string(data), " ")
	if from != place || !strings.HasPrefix(tag, `"`) { // a weak one does not promise the same bytes
		return ""
	}
	return tag
}

func (d *download) keepTag(place, tag string) error {
	if err := os.WriteFile(filepath.Join(d.dir, "tag"), []byte(strings.ReplaceAll(tag, " ", "")+" "+place), 0o644); err != nil {
		return d.local(err)
	}
	return nil
}

// copy takes the file from this machine.
func (d *download) copy(ctx context.Context, path string) error {
	in, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := d.reset(); err != nil {
		return err
	}
	first := bufio.NewReader(in)
	if err := d.sniff(first, info.Size()); err != nil {
		return err
	}
	err = d.store(untilDone{ctx, first}, 0)
	if b, ok := errors.AsType[*brokenError](err); ok {
		return b.error // trying a file again does not help
	}
	return err
}

// listener tells of bytes that come.
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

// untilDone ends with its context.
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

// shortened leaves the method and the address out of an error: the place is named beside it.
func shortened(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
