// Package s3test serves a bucket to tests over the S3 protocol in the test's process, and corrupts responses on
// request.
package s3test

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Bucket is the name of the server's bucket.
const Bucket = "birds"

// changed is the modification time of all objects.
const changed = "Sat, 21 Nov 2026 10:00:00 GMT"

// Server is a server with one bucket.
type Server struct {
	*httptest.Server
	backend *s3mem.Backend

	mu    sync.Mutex
	spoil Spoil
}

// Spoil responds to a request itself, or returns false.
type Spoil func(w http.ResponseWriter, r *http.Request) bool

// Serve starts a server with these objects, and sets the test's environment variables to use the server.
func Serve(t testing.TB, objects map[string][]byte) *Server {
	t.Helper()
	s := &Server{backend: s3mem.New()}
	if err := s.backend.CreateBucket(Bucket); err != nil {
		t.Fatal(err)
	}
	for key, data := range objects {
		s.Put(t, key, data)
	}
	inner := gofakes3.New(s.backend).Server()
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		spoil := s.spoil
		s.mu.Unlock()
		if spoil == nil || !spoil(w, r) {
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	for name, value := range s.Env() {
		t.Setenv(name, value)
	}
	return s
}

// Env returns environment variables that make clients use the server.
func (s *Server) Env() map[string]string {
	return map[string]string{"AWS_ENDPOINT_URL": s.URL, "AWS_ACCESS_KEY_ID": "id",
		"AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
}

// Put stores an object.
func (s *Server) Put(t testing.TB, key string, data []byte) {
	t.Helper()
	if _, err := s.backend.PutObject(Bucket, key, map[string]string{"Last-Modified": changed},
		bytes.NewReader(data), int64(len(data)), nil); err != nil {
		t.Fatal(err)
	}
}

// PutFolder stores all files of a folder under keys that start with prefix.
func (s *Server) PutFolder(t testing.TB, prefix, dir string) {
	t.Helper()
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		if err == nil {
			s.Put(t, prefix+name, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Set sets how further responses are corrupted; nil: they are not corrupted.
func (s *Server) Set(spoil Spoil) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spoil = spoil
}
