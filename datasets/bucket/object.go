package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
)

// object is one version of an object, or a folder.
type object struct {
	key     string
	version string // ETag
	size    int64
	changed time.Time
	folder  bool

	mu   sync.Mutex
	next int64 // the block after the last one fetched ahead
	run  int64 // the number of blocks fetched then
}

// info describes an object as a file. It is also a directory entry.
type info struct{ *object }

func (i info) Name() string               { return path.Base("/" + i.key) }
func (i info) Size() int64                { return i.size }
func (i info) ModTime() time.Time         { return i.changed }
func (i info) IsDir() bool                { return i.folder }
func (i info) Sys() any                   { return nil }
func (i info) Type() fs.FileMode          { return i.Mode().Type() }
func (i info) Info() (fs.FileInfo, error) { return i, nil }
func (i info) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// getKnownObject returns what is remembered of a key, or nil.
func (c *client) getKnownObject(key string) *object {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, _ := c.objects.getKept(key)
	return o
}

// rememberObject stores what was learned about an object. If the same version is known already, it returns that one.
func (c *client) rememberObject(o *object) *object {
	c.mu.Lock()
	defer c.mu.Unlock()
	if was, ok := c.objects.getKept(o.key); ok && was.version == o.version && was.folder == o.folder {
		return was
	}
	c.objects.putKept(o.key, o)
	return o
}

func (c *client) forgetObject(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects.dropKept(key)
}

func objectOf(i minio.ObjectInfo) *object {
	return &object{key: i.Key, version: i.ETag, size: i.Size, changed: i.LastModified}
}

// statKey describes a key: an object or, if there is none, a folder.
func (c *client) statKey(ctx context.Context, key string) (*object, error) {
	if o := c.getKnownObject(key); o != nil {
		return o, nil
	}
	if key != "" {
		i, err := c.core.StatObject(ctx, c.name, key, minio.StatObjectOptions{})
		if err == nil {
			return c.rememberObject(objectOf(i)), nil
		}
		if err = c.explainKeyError(ctx, "stat", key, err); !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return c.statFolder(ctx, key)
}

// statFolder returns a key as a folder if there are objects below it.
func (c *client) statFolder(ctx context.Context, key string) (*object, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for i := range c.core.ListObjectsIter(ctx, c.name, minio.ListObjectsOptions{Prefix: makeKeyPrefix(key),
		MaxKeys: 1}) {
		if i.Err != nil {
			return nil, c.explainKeyError(ctx, "stat", key, i.Err)
		}
		return c.rememberObject(&object{key: key, folder: true}), nil
	}
	if key == "" {
		return &object{folder: true}, nil // an empty bucket
	}
	return nil, &fs.PathError{Op: "stat", Path: c.root + "/" + key, Err: fs.ErrNotExist}
}

// makeKeyPrefix returns the common prefix of all keys in a folder.
func makeKeyPrefix(key string) string {
	if key == "" {
		return ""
	}
	return key + "/"
}

// getObject requests an object from byte from on, up to but excluding end unless end is 0. If version is set, the
// object must have it.
func (c *client) getObject(ctx context.Context, key, version string, from, end int64) (
	io.ReadCloser, minio.ObjectInfo, error,
) {
	ctx, stop := context.WithCancelCause(ctx)
	o := minio.GetObjectOptions{}
	var err error
	switch {
	case end > 0:
		err = o.SetRange(from, end-1)
	case from > 0:
		err = o.SetRange(from, 0)
	}
	if err == nil && version != "" {
		err = o.SetMatchETag(version)
	}
	if err != nil {
		stop(nil)
		return nil, minio.ObjectInfo{}, err
	}
	body, i, header, err := c.core.GetObject(ctx, c.name, key, o)
	switch {
	case err != nil:
		stop(nil)
		return nil, i, err
	case from > 0 && header.Get("Content-Range") == "":
		err = errors.New("the server sends only whole objects, expected byte ranges")
	case version != "" && i.ETag != version:
		err = minio.ErrorResponse{Code: minio.PreconditionFailed, StatusCode: 412}
	}
	if err != nil {
		stop(nil)
		return nil, i, errors.Join(err, body.Close())
	}
	i.Key = key
	return &watched{body, ctx, stop, time.AfterFunc(c.patience, func() { stop(errSilent) }), c.patience}, i, nil
}

// watched is an answer that is given up if the server falls silent.
type watched struct {
	io.ReadCloser
	ctx      context.Context
	stop     context.CancelCauseFunc
	timer    *time.Timer
	patience time.Duration
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	w.timer.Reset(w.patience)
	n, err := w.ReadCloser.Read(p)
	w.timer.Stop()
	if err != nil && errors.Is(context.Cause(w.ctx), errSilent) {
		err = errSilent
	}
	return n, err
}

// Close implements io.Closer.
func (w *watched) Close() error {
	w.timer.Stop()
	w.stop(nil)
	return w.ReadCloser.Close()
}

// file is an open object, for sequential reads by Read and random ones by ReadAt.
type file struct {
	ctx  context.Context
	c    *client
	o    *object
	body io.ReadCloser // starts at byte at; nil if not requested yet
	at   int64
}

// Stat implements fs.File.
func (f *file) Stat() (fs.FileInfo, error) { return info{f.o}, nil }

// Close implements fs.File.
func (f *file) Close() error {
	if f.body == nil {
		return nil
	}
	body := f.body
	f.body = nil
	return body.Close()
}

// Read implements io.Reader. It resumes a broken answer where it broke.
func (f *file) Read(p []byte) (n int, err error) {
	if f.o.folder {
		return 0, &fs.PathError{Op: "read", Path: f.c.root + "/" + f.o.key, Err: errors.New("is a folder")}
	}
	if f.at >= f.o.size {
		return 0, io.EOF
	}
	for attempt := 1; ; attempt++ {
		if f.body == nil {
			if f.body, _, err = f.c.getObject(f.ctx, f.o.key, f.o.version, f.at, 0); err != nil {
				return 0, f.c.explainKeyError(f.ctx, "read", f.o.key, err)
			}
		}
		n, err = f.body.Read(p)
		f.at += int64(n)
		if n > 0 || err == nil {
			return n, nil // the next call sees the error again, or resumes
		}
		_ = f.Close() // broken already
		if attempt == f.c.attempts {
			return 0, f.c.explainKeyError(f.ctx, "read", f.o.key, f.c.explainBrokenAnswer(err, f.at, f.o.size))
		}
		if err := f.c.waitAfter(f.ctx, attempt); err != nil {
			return 0, err
		}
	}
}

// explainBrokenAnswer says where an answer ended early.
func (c *client) explainBrokenAnswer(err error, at, size int64) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the answer ends early")
	}
	return fmt.Errorf("at byte %d of %d, after %d attempts: %w", at, size, c.attempts, c.explainSilence(err))
}
