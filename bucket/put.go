package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"winnow/datasets/location"

	"github.com/minio/minio-go/v7"
)

var _ location.Sink = (*Tree)(nil)

// partSize is what a larger object is sent in, one part held in memory after the other; of one of more than 10,000 of them the client takes
// larger ones.
const partSize = 16 << 20

// Put stores an object of so many bytes, in the place of what had the name: whole, or not at all. What breaks off is sent again, a large
// object part by part.
func (t *Tree) Put(name string, from io.ReaderAt, size int64) error {
	key, err := t.at("put", name)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(t.ctx)
	defer stop(nil)
	sent := &sent{ReaderAt: from, left: size, patience: t.c.patience * time.Duration(t.c.attempts)}
	sent.timer = time.AfterFunc(sent.patience, func() { stop(errSilent) })
	defer sent.timer.Stop()
	i, err := t.c.core.Client.PutObject(ctx, t.c.name, key, io.NewSectionReader(sent, 0, size), size, minio.PutObjectOptions{
		PartSize: partSize, SendContentMd5: true, DisableContentSha256: true}) // the server checks the sum of each request; not all take one that is signed chunk by chunk
	t.c.forget(key)
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errSilent):
		err = errSilent
	case err == nil && i.Size != size:
		err = fmt.Errorf("found %d bytes stored, expected %d", i.Size, size)
	}
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

// sent is what is read to be sent. Where nothing is asked for any more before all of it was, the server takes nothing; then it is waited for
// an answer, which has a limit of its own.
type sent struct {
	io.ReaderAt
	left     int64 // bytes, but for those that are sent again
	patience time.Duration
	timer    *time.Timer
}

// ReadAt implements io.ReaderAt.
func (s *sent) ReadAt(p []byte, at int64) (int, error) {
	s.timer.Reset(s.patience)
	n, err := s.ReaderAt.ReadAt(p, at)
	if atomic.AddInt64(&s.left, -int64(n)) <= 0 {
		s.timer.Stop()
	}
	return n, err
}
