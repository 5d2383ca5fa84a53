// Package bucket reads and writes the objects of a bucket as files. It uses minio-go and works with Amazon S3, servers
// compatible with S3, and Google Cloud Storage with an HMAC key.
package bucket

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"winnow/datasets/location"
	"winnow/internal/regular"
)

// attempts is how many times a request is tried before it fails.
const attempts = 5

// Tree presents the objects below an address as a file tree. Its context cancels all requests.
type Tree struct {
	ctx    context.Context
	core   *minio.Core
	bucket string
	root   string // the bucket's address
	key    string // key of the folder; "" for the whole bucket
}

// cores caches one client per address without its key, so that connections are shared.
var cores struct {
	sync.Mutex
	made map[location.Source]*minio.Core
}

// Open opens a folder of objects, or a single object as a tree with the only name ".", as [location.Use] requires. It
// sends no request.
func Open(ctx context.Context, at location.Source) (location.Tree, error) {
	t := &Tree{ctx: ctx, bucket: at.Bucket(), root: at.Scheme() + "://" + at.Bucket(), key: at.Key()}
	cores.Lock()
	defer cores.Unlock()
	at = at.With(at.Bucket())
	if t.core = cores.made[at]; t.core != nil {
		return t, nil
	}
	var err error
	if t.core, err = newCore(at); err != nil {
		return nil, fmt.Errorf("%s: %w", t.root, err)
	}
	if cores.made == nil {
		cores.made = map[location.Source]*minio.Core{}
	}
	cores.made[at] = t.core
	return t, nil
}

// newCore creates the client of a bucket from the options of its address and the environment.
func newCore(at location.Source) (*minio.Core, error) {
	endpoint, region := at.Option(location.Endpoint), at.Option(location.Region)
	if at.Scheme() == location.Google {
		endpoint, region = cmp.Or(endpoint, "https://storage.googleapis.com"), cmp.Or(region, "auto")
	}
	endpoint = cmp.Or(endpoint, os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"),
		"https://s3.amazonaws.com")
	if !strings.Contains(endpoint, "://") {
		endpoint = "https://" + endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, fmt.Errorf("endpoint: %w", err)
	}
	if u.User != nil || u.Host == "" {
		return nil, fmt.Errorf("endpoint: found %q, expected http://HOST:PORT or https://HOST", u.Redacted())
	}
	o := &minio.Options{Secure: u.Scheme == "https", MaxRetries: attempts, Creds: findCredentials(at),
		Region: cmp.Or(region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))}
	if at.Option(location.PathStyle) == "true" {
		o.BucketLookup = minio.BucketLookupPath
	}
	return minio.NewCore(u.Host, o)
}

// findCredentials looks for credentials where Amazon's own tools do: in the environment, in a profile's file, and in
// the role of the machine.
func findCredentials(at location.Source) *credentials.Credentials {
	if at.Option(location.Anonymous) == "true" {
		return credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
	}
	profile := at.Option(location.Profile)
	chain := []credentials.Provider{&credentials.FileAWSCredentials{Profile: profile}}
	if profile == "" { // a profile in the address overrides the environment
		chain = slices.Insert(chain, 0, credentials.Provider(&credentials.EnvAWS{}))
	}
	if os.Getenv("AWS_EC2_METADATA_DISABLED") != "true" {
		// The metadata server of a role answers immediately or does not exist.
		chain = append(chain, &credentials.IAM{Client: &http.Client{Timeout: 2 * time.Second}})
	}
	return credentials.NewChainCredentials(chain)
}

// explainError adds the key to an error of the library. A missing or changed object gives an error for that object; any
// other error is an outage.
func (t *Tree) explainError(op, key string, err error) error {
	if t.ctx.Err() != nil {
		return t.ctx.Err()
	}
	at := strings.TrimSuffix(t.root+"/"+key, "/")
	var answer minio.ErrorResponse
	if errors.As(err, &answer) {
		switch {
		case answer.StatusCode == http.StatusNotFound && answer.Code != minio.NoSuchBucket:
			return &fs.PathError{Op: op, Path: at, Err: fs.ErrNotExist}
		case answer.StatusCode == http.StatusPreconditionFailed:
			return &fs.PathError{Op: op, Path: at, Err: errors.New("the object changed while it was read: try again")}
		}
		err = fmt.Errorf("%w (%s)", err, answer.Code)
	}
	return &regular.Outage{Err: fmt.Errorf("%s: %w", at, err)}
}

// makeKey returns the object key of a file name.
func (t *Tree) makeKey(op, name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return strings.TrimPrefix(path.Join("/", t.key, name), "/"), nil
}

// makeKeyPrefix returns the prefix of all keys in a folder.
func makeKeyPrefix(key string) string {
	if key == "" {
		return ""
	}
	return key + "/"
}

// OnlyFiles reports that a bucket contains no pipes ([regular.OnlyFiles]).
func (t *Tree) OnlyFiles() bool { return true }

// Open implements fs.FS. Files also implement io.ReaderAt.
func (t *Tree) Open(name string) (fs.File, error) {
	info, err := t.statObject("open", name)
	if err != nil {
		return nil, err
	}
	return &file{Tree: t, object: info}, nil
}

// Stat implements fs.StatFS.
func (t *Tree) Stat(name string) (fs.FileInfo, error) {
	info, err := t.statObject("stat", name)
	if err != nil {
		return nil, err
	}
	return info, nil
}

// statObject describes the object with a name or, if there is none, the folder with this name.
func (t *Tree) statObject(op, name string) (object, error) {
	key, err := t.makeKey(op, name)
	if err != nil {
		return object{}, err
	}
	if key != "" {
		i, err := t.core.StatObject(t.ctx, t.bucket, key, minio.StatObjectOptions{})
		if err == nil {
			return object{ObjectInfo: i}, nil
		}
		if err = t.explainError(op, key, err); !errors.Is(err, fs.ErrNotExist) {
			return object{}, err
		}
	}
	for _, err := range t.listObjects(makeKeyPrefix(key), true) {
		return object{ObjectInfo: minio.ObjectInfo{Key: key}, folder: true}, err
	}
	if key == "" { // an empty bucket
		return object{folder: true}, nil
	}
	return object{}, &fs.PathError{Op: op, Path: t.root + "/" + key, Err: fs.ErrNotExist}
}

// ReadDir implements fs.ReadDirFS.
func (t *Tree) ReadDir(name string) ([]fs.DirEntry, error) {
	key, err := t.makeKey("readdir", name)
	if err != nil {
		return nil, err
	}
	var list []fs.DirEntry
	for o, err := range t.listObjects(makeKeyPrefix(key), false) {
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	if len(list) == 0 && key != "" {
		return nil, &fs.PathError{Op: "readdir", Path: t.root + "/" + key, Err: fs.ErrNotExist}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	// An object "a" and a folder "a/" give one entry.
	return slices.CompactFunc(list, func(a, b fs.DirEntry) bool { return a.Name() == b.Name() }), nil
}

// Names returns the sorted names of all objects in the tree that start with prefix.
func (t *Tree) Names(prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		base := makeKeyPrefix(t.key)
		for o, err := range t.listObjects(base+prefix, true) {
			if !o.folder && !yield(strings.TrimPrefix(o.Key, base), err) || err != nil {
				return
			}
		}
	}
}

// listObjects lists the objects whose keys start with prefix: all objects if deep, else the objects and folders one
// level below. It skips keys that S3 allows but that are not valid file paths.
func (t *Tree) listObjects(prefix string, deep bool) iter.Seq2[object, error] {
	return func(yield func(object, error) bool) {
		ctx, stop := context.WithCancel(t.ctx)
		defer stop()
		o := minio.ListObjectsOptions{Prefix: prefix, Recursive: deep}
		for i := range t.core.ListObjectsIter(ctx, t.bucket, o) {
			if i.Err != nil {
				yield(object{}, t.explainError("list", prefix, i.Err))
				return
			}
			o := object{ObjectInfo: i, folder: strings.HasSuffix(i.Key, "/")}
			o.Key = strings.TrimSuffix(o.Key, "/")
			if i.Key == prefix && !deep || !fs.ValidPath(o.Key) { // the marker object of the folder itself
				continue
			}
			if !yield(o, nil) {
				return
			}
		}
		if t.ctx.Err() != nil {
			yield(object{}, t.ctx.Err())
		}
	}
}

// object describes an object or a folder as a file and as a directory entry.
type object struct {
	minio.ObjectInfo
	folder bool
}

func (o object) Name() string               { return path.Base("/" + o.Key) }
func (o object) Size() int64                { return o.ObjectInfo.Size }
func (o object) ModTime() time.Time         { return o.LastModified }
func (o object) IsDir() bool                { return o.folder }
func (o object) Sys() any                   { return nil }
func (o object) Type() fs.FileMode          { return o.Mode().Type() }
func (o object) Info() (fs.FileInfo, error) { return o, nil }
func (o object) Mode() fs.FileMode {
	if o.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// The smallest and largest number of bytes per request. Each request that continues the previous one doubles its size.
const (
	leastChunk = 256 << 10
	mostChunk  = 8 << 20
)

// file is an open object. It reads the object in chunks and keeps the last chunk.
type file struct {
	*Tree
	object
	mu    sync.Mutex
	chunk []byte
	start int64 // offset of chunk in the object
	next  int64 // offset of the next Read
}

// Stat implements fs.File.
func (f *file) Stat() (fs.FileInfo, error) { return f.object, nil }

// Close implements fs.File.
func (f *file) Close() error { return nil }

// Read implements io.Reader.
func (f *file) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.next)
	if f.next += int64(n); n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// ReadAt implements io.ReaderAt.
func (f *file) ReadAt(p []byte, from int64) (n int, err error) {
	if f.folder || from < 0 {
		return 0, &fs.PathError{Op: "read", Path: f.root + "/" + f.Key, Err: fs.ErrInvalid}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for n < len(p) {
		at := from + int64(n)
		if at >= f.Size() {
			return n, io.EOF
		}
		if at < f.start || at >= f.start+int64(len(f.chunk)) {
			if err := f.fetchChunk(at, int64(len(p)-n)); err != nil {
				return n, f.explainError("read", f.Key, err)
			}
		}
		n += copy(p[n:], f.chunk[at-f.start:])
	}
	return n, nil
}

// fetchChunk reads a chunk that starts at offset at; the caller needs n bytes, or as many as a chunk can hold.
func (f *file) fetchChunk(at, n int64) (err error) {
	last := int64(len(f.chunk))
	if end := f.start + last; last > 0 && at >= end && at < end+last {
		n = max(n, 2*last)
	}
	n = min(max(n, leastChunk), mostChunk, f.Size()-at)
	for attempt := range attempts {
		if attempt > 0 {
			time.Sleep(50 * time.Millisecond << attempt)
		}
		if err = f.readRange(at, n); err == nil || f.ctx.Err() != nil || errors.As(err, new(minio.ErrorResponse)) {
			return err // minio-go has already retried errors of the server
		}
	}
	return err
}

// readRange reads n bytes of the object. It fails if the object has changed since it was opened.
func (f *file) readRange(at, n int64) error {
	ctx, stop := context.WithTimeout(f.ctx, time.Minute)
	defer stop()
	var o minio.GetObjectOptions
	if err := errors.Join(o.SetRange(at, at+n-1), o.SetMatchETag(f.ETag)); err != nil {
		return err
	}
	body, _, _, err := f.core.GetObject(ctx, f.bucket, f.Key, o)
	if err != nil {
		return err
	}
	defer body.Close()
	chunk := bytes.NewBuffer(make([]byte, 0, n))
	if _, err := io.CopyN(chunk, body, n); err != nil {
		return fmt.Errorf("bytes %d to %d: %w", at, at+n, err)
	}
	f.chunk, f.start = chunk.Bytes(), at
	return nil
}
