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

// object is one version of an object, or a folder of objects.
type object struct {
	key     string
	version string // ETag
	size    int64
	changed time.Time
	folder  bool

	mu   sync.Mutex
	next int64 // the block behind the last that was fetched ahead
	run  int64 // how many were fetched then
}

// info describes an object as a file; it is a directory's entry too.
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

// known returns what is remembered of a key.
func (c *client) known(key string) *object {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, _ := c.objects.get(key)
	return o
}

// remember keeps what was learned of an object, and returns what was known if that is the same version.
func (c *client) remember(o *object) *object {
	c.mu.Lock()
	defer c.mu.Unlock()
	if was, ok := c.objects.get(o.key); ok && was.version == o.version && was.folder == o.folder {
		return was
	}
	c.objects.put(o.key, o)
	return o
}

func (c *client) forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects.drop(key)
}

func objectOf(i minio.ObjectInfo) *object {
	return &object{key: i.Key, version: i.ETag, size: i.Size, changed: i.LastModified}
}

// stat asks for an object, or else whether the key is that of a folder.
func (c *client) stat(ctx context.Context, key string) (*object, error) {
	if o := c.known(key); o != nil {
		return o, nil
	}
	if key != "" {
		i, err := c.core.StatObject(ctx, c.name, key, minio.StatObjectOptions{})
		if err == nil {
			return c.remember(objectOf(i)), nil
		}
		if err = c.explain(ctx, "stat", key, err); !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return c.folder(ctx, key)
}

// folder returns a key as a folder, if objects lie below it.
func (c *client) folder(ctx context.Context, key string) (*object, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for i := range c.core.ListObjectsIter(ctx, c.name, minio.ListObjectsOptions{Prefix: below(key), MaxKeys: 1}) {
		if i.Err != nil {
			return nil, c.explain(ctx, "stat", key, i.Err)
		}
		return c.remember(&object{key: key, folder: true}), nil
	}
	if key == "" {
		return &object{folder: true}, nil // an empty bucket
	}
	return nil, &fs.PathError{Op: "stat", Path: c.root + "/" + key, Err: fs.ErrNotExist}
}

// below is what the keys in a folder begin with.
func below(key string) string {
	if key == "" {
		return ""
	}
	return key + "/"
}

// get asks for an object from a byte on, to before end if that is not 0. The version, if it is known, must be the same.
func (c *client) get(ctx context.Context, key, version string, from, end int64) (io.ReadCloser, minio.ObjectInfo, error) {
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
		err = errors.New("the server sends whole objects alone, expected ranges of bytes")
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

// watched is an answer that is given up if nothing comes for a while.
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

// file is an object that is open. Its reads follow each other by Read, or lie anywhere by ReadAt.
type file struct {
	ctx  context.Context
	c    *client
	o    *object
	body io.ReadCloser // from at on; nil: not asked for yet
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

// Read implements io.Reader. What breaks off is asked for again from there.
func (f *file) Read(p []byte) (n int, err error) {
	if f.o.folder {
		return 0, &fs.PathError{Op: "read", Path: f.c.root + "/" + f.o.key, Err: errors.New("is a folder")}
	}
	if f.at >= f.o.size {
		return 0, io.EOF
	}
	for attempt := 1; ; attempt++ {
		if f.body == nil {
			if f.body, _, err = f.c.get(f.ctx, f.o.key, f.o.version, f.at, 0); err != nil {
				return 0, f.c.explain(f.ctx, "read", f.o.key, err)
			}
		}
		n, err = f.body.Read(p)
		f.at += int64(n)
		if n > 0 || err == nil {
			return n, nil // an error comes again, or what is left is asked for
		}
		_ = f.Close() // broken already
		if attempt == f.c.attempts {
			return 0, f.c.explain(f.ctx, "read", f.o.key, f.c.broken(err, f.at, f.o.size))
		}
		if err := f.c.wait(f.ctx, attempt); err != nil {
			return 0, err
		}
	}
}

// broken says where an answer ended early.
func (c *client) broken(err error, at, size int64) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the answer ends early")
	}
	return fmt.Errorf("at byte %d of %d, at %d attempts: %w", at, size, c.attempts, c.silence(err))
}
