// Package vectordb uploads named vectors into a collection of a vector database and asks it for nearest neighbours.
// It holds what all databases share; [winnow/search/qdrant] and [winnow/search/pgvector] talk to the servers, each
// as a [Store].
//
// # Resuming after a break
//
// The server is asked what it has; no local file is trusted. If the collection already held points, the digests of
// each batch are read first and only missing or different points are sent. So the same call resumes an upload that
// died at any moment, on either side; repeated with the same points it sends nothing; with a longer list it sends
// the new points. At the end the points are counted, and a sample is read back and compared, vectors included. Then
// the server's search graph is built.
package vectordb

import (
	"context"
	"time"
)

// The fields of a point that winnow writes itself.
const (
	PathField   = "path"
	ModelField  = "model"
	DigestField = "digest"
)

// Point is an image's vector and what is known about the image. Payload holds none of winnow's own fields.
type Point struct {
	Path    string
	Vector  []float32
	Payload map[string]string
}

// Stored is a point as the server holds it.
type Stored struct {
	Point
	Model, Digest string
}

// Source yields points in order, some per call, and io.EOF after the last. Vectors are read after Next is called
// again, so they must not be overwritten; a few batches are kept.
type Source interface {
	Len() int // an upper bound on the points that Next will give
	Width() int
	Next() ([]Point, error)
}

// Options are the settings of an upload.
type Options struct {
	Model    string   // sha256 of what made the vectors: a collection does not mix models
	Batch    int      // most points per request
	Recreate bool     // delete the collection first
	Delete   bool     // delete the points that the source does not have
	OnDisk   bool     // a new collection keeps its vectors on disk, not in memory, if the server knows the difference
	Columns  []string // the fields of the payloads
	Observe  func(done, total int)
	Note     func(text string) // receives notes for the user
}

// Result describes a finished upload.
type Result struct {
	Collection string `json:"collection"`
	Server     string `json:"server_version"`
	Rows       int    `json:"rows"`
	Dim        int    `json:"dim"`
	Sent       int    `json:"sent"`
	Kept       int    `json:"there_already"`
	Deleted    int    `json:"deleted"`
	Points     int    `json:"points_in_collection"`
	Compared   int    `json:"points_compared"` // read back and found equal
	Created    bool   `json:"created"`
}

// Opened is what is known of a collection before the first point is sent.
type Opened struct {
	Created bool
	Empty   bool    // there is nothing to ask for
	Limit   float64 // how much a value of a normalised vector may differ when read back; 0: not at all
}

// About describes a collection.
type About struct {
	Server string // the server's version
	Model  string // the model that made the vectors
	Dim    int
	Points int
}

// Hit is a point found and its cosine with the query.
type Hit struct {
	Path       string
	Payload    map[string]string
	Similarity float64
}

// Store is a collection on a server; it need not exist yet. Methods repeat requests that may succeed later, and
// their errors name the server and the collection. Every method may be repeated with the same arguments to the same
// effect.
type Store interface {
	String() string  // room, server and collection: the start of every error
	Address() string // the server's, without secrets
	Collection() string
	Streams() int // how many goroutines may put points at the same time
	Tries() *Tries
	Close() error

	// Hello returns the server's version.
	Hello(ctx context.Context) (string, error)
	// Open makes the collection, or checks that the existing one can hold the points.
	Open(ctx context.Context, dim int, o Options) (Opened, error)
	// Digests returns the digests of the points that exist, by path.
	Digests(ctx context.Context, paths []string) (map[string]string, error)
	// Put writes points and replaces those of the same paths. late reports that the server may not show them yet.
	Put(ctx context.Context, points []Stored) (late bool, err error)
	// Fetch returns the points that exist, by path.
	Fetch(ctx context.Context, paths []string) (map[string]Stored, error)
	// Paths lists the collection in portions. It starts at "" and continues at next, until next is "".
	Paths(ctx context.Context, from string) (paths []string, next string, err error)
	// Delete removes points.
	Delete(ctx context.Context, paths []string) error
	// Count returns the exact number of points.
	Count(ctx context.Context) (int, error)
	// Finish makes the server index the points if that was deferred.
	Finish(ctx context.Context) error

	// Look describes an existing collection.
	Look(ctx context.Context) (About, error)
	// Nearest finds the k points most similar to a unit vector, best first, by the server's index if there is one.
	Nearest(ctx context.Context, v []float32, k int) ([]Hit, error)
}

// OtherCollection says why a collection cannot hold the points.
type OtherCollection struct{ Store, Why string }

// Error implements error.
func (e *OtherCollection) Error() string { return e.Store + ": " + e.Why }

// RequestError describes a request that a server refused, or did not answer after all tries.
type RequestError struct {
	Message  string // the server, the request and the answer
	Refused  bool   // the key or password was rejected
	NoAnswer bool   // the server could not be reached
	Tries    int
	Least    time.Duration // how long the server asks to be left alone
	Err      error
}

// Unwrap returns the client's error.
func (e *RequestError) Unwrap() error { return e.Err }
