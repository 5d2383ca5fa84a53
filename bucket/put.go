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

// partSize is what a larger object is sent in, one part held in memory after the other; of one that would have more than mostParts they are larger.
const (
	partSize  = 16 << 20
	mostParts = 10_000
)

// Put stores an object of so many bytes, in the place of what had the name: whole, or not at all. What breaks off is sent again, a large
// object part by part.
func (t *Tree) Put(name string, from io.ReaderAt, size int64) error {
	key, err := t.at("put", name)
	if err != nil {
		return err
	}
	if size <= partSize {
		err = t.c.putAtOnce(t.ctx, key, from, size)
	} else {
		err = t.c.putInParts(t.ctx, key, from, size)
	}
	t.c.forget(key)
	if err != nil {
		return t.c.explain(t.ctx, "put", key, err)
	}
	return nil
}

// Remove removes an object, if there is one.
func (t *Tree) Remove(name string) error {
	key, err := t.at("remove", name)
	if err != nil {
		return err
	}
	err = t.c.core.RemoveObject(t.ctx, t.c.name, key, minio.RemoveObjectOptions{})
	t.c.forget(key)
	if err != nil {
		return t.c.explain(t.ctx, "remove", key, err)
	}
	return nil
}

// putAtOnce sends an object in one request.
func (c *client) putAtOnce(ctx context.Context, key string, from io.ReaderAt, size int64) error {
	b, err := readBody(from, 0, size)
	if err != nil {
		return err
	}
	return c.send(ctx, b, func(ctx context.Context, body io.Reader) error {
		_, err := c.core.PutObject(ctx, c.name, key, body, size, b.md5, b.sha256, minio.PutObjectOptions{DisableContentSha256: true})
		return err
	})
}

// putInParts sends an object in parts, of which the server makes one when all are there.
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
		err = c.send(ctx, b, func(ctx context.Context, body io.Reader) error {
			p, err := c.core.PutObjectPart(ctx, c.name, key, id, n, body, int64(len(b.data)), minio.PutObjectPartOptions{Md5Base64: b.md5, Sha256Hex: b.sha256, DisableContentSha256: true})
			if err == nil {
				parts = append(parts, minio.CompletePart{PartNumber: n, ETag: p.ETag})
			}
			return err
		})
	}
	if err == nil {
		_, err = c.core.CompleteMultipartUpload(ctx, c.name, key, id, parts, minio.PutObjectOptions{})
	}
	if err != nil { // nobody is to pay for parts of nothing, also where the context has ended
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), c.patience)
		defer stop()
		_ = c.core.AbortMultipartUpload(ctx, c.name, key, id)
	}
	return err
}

// body is what a request carries, with the sums by which the server knows that it came as it was sent.
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

// send makes a request that carries a body, and makes it again where that may help. Each has a reader of its own, which cannot be turned back: the
// client of S3 would begin with the same one again, while the connection of before may still read from it.
func (c *client) send(ctx context.Context, b body, request func(ctx context.Context, body io.Reader) error) error {
	for attempt := 1; ; attempt++ {
		err := c.sendOnce(ctx, b, request)
		if err == nil || attempt == c.attempts || ctx.Err() != nil || !helps(err) {
			return err
		}
		if err := c.wait(ctx, attempt); err != nil {
			return err
		}
	}
}

// helps reports whether a request that was answered so may succeed later.
func helps(err error) bool {
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

// sent is what is read to be sent. Where nothing is asked for any more before all of it was, the server takes nothing; then it is waited for
// an answer, which has a limit of its own.
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
