// Package qdrant puts vectors with names into a collection of a Qdrant server, through its gRPC interface.
//
// # What is stored
//
// One point per image. Its id is the UUID (version 5) of the image's path in the namespace of URLs, so that
//
//	uuid.uuid5(uuid.NAMESPACE_URL, path)
//
// finds it from any language, an image that is sent again overwrites itself, and images that come later move no other.
// The vector is one unnamed vector of float32 under cosine distance, which the server divides by its length. The payload
// is text: the path, what the source knows of the image (label, split, …), the sha256 of the model that made the vector,
// and a digest of all that.
//
// # Resuming after a break
//
// The server is asked what it has; no local file is trusted. Of a collection that held points before, the digests
// of each batch's ids are read first, and only missing or different points are sent. The same call resumes an upload that died
// at any moment, on either side; one of present points sends nothing; one of a longer list sends the new
// points. At the end the points are counted, and a sample of them is read back and compared, vectors and all.
//
// # Indexing
//
// As Qdrant's page on bulk uploads recommends, a collection made here has its graph deferred (hnsw m = 0) until all points
// are in, then m = 16, the server's default; the collection's metadata say which of the two it is, so that the call that
// finishes an interrupted upload turns indexing on. A collection made elsewhere keeps its settings.
//
// # What this was tested against
//
// No Qdrant server was available where this was written. The
// tests speak Qdrant's wire format (the client's generated gRPC services) with a server in memory, internal/testing/qdranttest,
// which follows the documented behaviour and fails on purpose in the ways that matter.
package qdrant

import (
	"fmt"
	"time"

	client "github.com/qdrant/go-client/qdrant"
)

// This package's own fields of the payload.
const (
	PathField   = "path"
	ModelField  = "model"
	DigestField = "digest"
)

// Point is an image's vector and what is known of it. Payload holds none of the package's own fields.
type Point struct {
	Path    string
	Vector  []float32
	Payload map[string]string
}

// Source gives points in order, some at a time, io.EOF after the last. Vectors are read after Next is called again, so
// they must not be overwritten; what is kept of them is a few batches.
type Source interface {
	Len() int // the points that Next will give, at most
	Width() int
	Next() ([]Point, error)
}

// Options of an upload.
type Options struct {
	Collection string
	Model      string   // sha256 of what made the vectors: vectors of two models are not mixed
	Batch      int      // points a request, at most; Qdrant recommends 64 to 256
	Recreate   bool     // delete the collection first
	OnDisk     bool     // a new collection reads vectors from its disk and does not hold them in memory
	Indexed    []string // fields of the payload to filter by; a new collection gets a keyword index of each
	Observe    func(done, total int)
	Note       func(text string) // what the user should know
}

// Result of an upload.
type Result struct {
	Collection string `json:"collection"`
	Server     string `json:"server_version"`
	Rows       int    `json:"rows"`
	Dim        int    `json:"dim"`
	Sent       int    `json:"sent"`
	Kept       int    `json:"there_already"`
	Points     int    `json:"points_in_collection"`
	Compared   int    `json:"points_compared"` // read back and found equal
	Created    bool   `json:"created"`
}

// Server is a connection.
type Server struct {
	address Address
	client  *client.Client
	wait    waiting
}

// Dial prepares a connection; nothing is sent yet. key may be empty.
func Dial(a Address, key string) (*Server, error) {
	cfg := &client.Config{Host: a.Host, Port: a.Port, UseTLS: a.TLS, SkipCompatibilityCheck: true, PoolSize: streams, KeepAliveTime: 30, KeepAliveTimeout: 20}
	if key != "" {
		cfg.Headers = map[string]string{"api-key": key} // and not APIKey, whose warning goes to the log
	}
	c, err := client.NewClient(cfg)
	if err != nil {
		return nil, fmt.Errorf("qdrant: %s: %w", a, err)
	}
	return &Server{address: a, client: c, wait: patience}, nil
}

// Address returns where the server listens.
func (s *Server) Address() Address { return s.address }

// Close ends the connection.
func (s *Server) Close() error { return s.client.Close() }

// Times of requests.
const (
	pointsTime     = time.Minute
	collectionTime = 5 * time.Minute // a change of settings waits for what the server is about to finish
)
