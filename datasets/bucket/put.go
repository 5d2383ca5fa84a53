package bucket

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"winnow/datasets/location"

	"github.com/minio/minio-go/v7"
)

var _ location.Sink = (*Tree)(nil)

// partSize is the size of the parts in which larger objects are sent; one part is in memory at a time. The parts
// are larger where there would be more than mostParts.
const (
	partSize  = 16 << 20
	mostParts = 10_000
)

// Put stores an object of size bytes and replaces any of the same name, completely or not at all. It repeats what
// breaks off; a large object is sent, and repeated, part by part.
func (t *Tree) Put(name string, from io.ReaderAt, size int64) error {
	key, err := t.makeKeyAt("put", name)
	if err != nil {
		return err
	}
	if size <= partSize {
		err = t.c.putAtOnce(t.ctx, key, from, size)
	} else {
		err = t.c.putInParts(t.ctx, key, from, size)
	}
	t.c.forgetObject(key)
	if err != nil {
		return t.c.explainKeyError(t.ctx, "put", key, err)
	}
	return nil
}

// Remove removes an object. It is no error if there is none.
func (t *Tree) Remove(name string) error {
	key, err := t.makeKeyAt("remove", name)
	if err != nil {
		return err
	}
	err = t.c.core.RemoveObject(t.ctx, t.c.name, key, minio.RemoveObjectOptions{})
	t.c.forgetObject(key)
	if err != nil {
		return t.c.explainKeyError(t.ctx, "remove", key, err)
	}
	return nil
}

// putAtOnce sends an object in one request.
func (c *client) putAtOnce(ctx context.Context, key string, from io.ReaderAt, size int64) error {
	b, err := readBody(from, 0, size)
	if err != nil {
		return err
	}
	return c.sendBody(ctx, b, func(ctx context.Context, body io.Reader) error {
		_, err := c.core.PutObject(ctx, c.name, key, body, size, b.md5, b.sha256,
			minio.PutObjectOptions{DisableContentSha256: true})
		return err
	})
}

// putInParts sends an object in parts, which the server joins once all have arrived.
func (c *client) putInParts(ctx context.Context, key string, from io.ReaderAt, size int64) error {
	id, err := c.core.NewMultipartUpload(ctx, c.name, key, minio.PutObjectOptions{})
	if err != nil {
		return err
	}
	var parts []minio.CompletePart
	each := max(partSize, (size+mostParts-1)/mostParts)
	for at := int64(0); at < size && err == nil; at += each {
		var b body
		if b, err = readBody(from, at, min(each, size-at)); err != nil {
			break
		}
		n := len(parts) + 1
		err = c.sendBody(ctx, b, func(ctx context.Context, body io.Reader) error {
			p, err := c.core.PutObjectPart(ctx, c.name, key, id, n, body, int64(len(b.data)),
				minio.PutObjectPartOptions{Md5Base64: b.md5, Sha256Hex: b.sha256, DisableContentSha256: true})
			if err == nil {
				parts = append(parts, minio.CompletePart{PartNumber: n, ETag: p.ETag})
			}
			return err
		})
	}
	if err == nil {
		_, err = c.core.CompleteMultipartUpload(ctx, c.name, key, id, parts, minio.PutObjectOptions{})
	}
	if err != nil { // stored parts cost money: remove them, even after the context has ended
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), c.patience)
		defer stop()
		_ = c.core.AbortMultipartUpload(ctx, c.name, key, id)
	}
	return err
}

// body is what a request carries, with the checksums by which the server verifies it.
type body struct {
	data        []byte
	md5, sha256 string
}

func readBody(from io.ReaderAt, at, n int64) (body, error) {
	b := body{data: make([]byte, n)}
	if _, err := io.ReadFull(io.NewSectionReader(from, at, n), b.data); err != nil {
		return b, fmt.Errorf("reading bytes %d to %d: %w", at, at+n, err)
	}
	short, long := md5.Sum(b.data), sha256.Sum256(b.data)
	b.md5, b.sha256 = base64.StdEncoding.EncodeToString(short[:]), hex.EncodeToString(long[:])
	return b, nil
}

// sendBody makes a request that carries a body, and repeats it if that may help. Each attempt gets its own reader,
// which cannot seek: the S3 client would rewind and reuse a reader that the previous connection may still be
// reading.
func (c *client) sendBody(ctx context.Context, b body, request func(ctx context.Context, body io.Reader) error) error {
	for attempt := 1; ; attempt++ {
		err := c.sendOnce(ctx, b, request)
		if err == nil || attempt == c.attempts || ctx.Err() != nil || !isRetryUseful(err) {
			return err
		}
		if err := c.waitAfter(ctx, attempt); err != nil {
			return err
		}
	}
}

// isRetryUseful reports whether repeating a request that failed with err may help.
func isRetryUseful(err error) bool {
	answer := minio.ErrorResponse{}
	if !errors.As(err, &answer) {
		return true // no answer
	}
	switch answer.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	}
	return answer.StatusCode >= 500 || answer.Code == "BadDigest" || answer.Code == "RequestTimeout"
}

func (c *client) sendOnce(ctx context.Context, b body, request func(ctx context.Context, body io.Reader) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	timer := time.AfterFunc(c.patience, func() { stop(errSilent) })
	defer timer.Stop()
	err := request(ctx, &sent{bytes.NewReader(b.data), timer, c.patience})
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return errSilent
	}
	return err
}

// sent is the body as the connection reads it. If the connection stops reading before the end, the server accepts
// no more and the request is given up; after the end the wait for the answer has its own limit.
type sent struct {
	from     *bytes.Reader
	timer    *time.Timer
	patience time.Duration
}

// Read implements io.Reader.
func (s *sent) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	if s.timer.Reset(s.patience); s.from.Len() == 0 {
		s.timer.Stop()
	}
	return n, err
}
