// Package vectordb uploads vectors with names into a collection of a vector database and asks it for the nearest of a vector.
// It is what all databases have in common; [winnow/search/qdrant] and [winnow/search/pgvector] speak to servers, each as a
// [Store].
//
// # Resuming after a break
//
// The server is asked what it has; no local file is trusted. Of a collection that held points before, the digests
// of each batch are read first, and only missing or different points are sent. The same call resumes an upload that died
// at any moment, on either side; one of present points sends nothing; one of a longer list sends the new
// points. At the end the points are counted, and a sample of them is read back and compared, vectors and all; then the
// graph by which the server searches is built.
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

// Point is an image's vector and what is known of it. Payload holds none of winnow's own fields.
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

// Source gives points in order, some at a time, io.EOF after the last. Vectors are read after Next is called again, so
// they must not be overwritten; what is kept of them is a few batches.
type Source interface {
	Len() int // the points that Next will give, at most
	Width() int
	Next() ([]Point, error)
}

// Options of an upload.
type Options struct {
	Model    string   // sha256 of what made the vectors: vectors of two models are not mixed
	Batch    int      // points a request, at most
	Recreate bool     // delete the collection first
	Delete   bool     // delete the points of the collection that the source does not have
	OnDisk   bool     // a new collection reads vectors from its disk and does not hold them in memory, where the server knows the difference
	Columns  []string // fields that payloads have
	Observe  func(done, total int)
	Note     func(text string) // what the user should know
}

// Result of an upload.
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
	Empty   bool    // it holds nothing: there is nothing to ask for
	Limit   float64 // how much a number of a vector read back may differ, both divided by their length; 0: every bit is the same
}

// About says what a collection holds.
type About struct {
	Server string // its version
	Model  string // that made the vectors
	Dim    int
	Points int
}

// Hit is a point found, and its cosine to the query.
type Hit struct {
	Path       string
	Payload    map[string]string
	Similarity float64
}

// Store is a collection of a server, which need not exist yet. Its methods repeat requests that may succeed later, and
// their errors name server and collection. All may be called again with the same arguments, and come to the same.
type Store interface {
	String() string  // room, server and collection, as errors begin
	Address() string // of the server, without secrets
	Collection() string
	Streams() int // that may put points at the same time
	Tries() *Tries
	Close() error

	// Hello returns the server's version.
	Hello(ctx context.Context) (string, error)
	// Open makes the collection, or checks that the one that exists can hold the points.
	Open(ctx context.Context, dim int, o Options) (Opened, error)
	// Digests returns those of the points that are there, by path.
	Digests(ctx context.Context, paths []string) (map[string]string, error)
	// Put writes points over those of the same paths. late reports that the server may not show them yet.
	Put(ctx context.Context, points []Stored) (late bool, err error)
	// Fetch returns the points that are there, by path.
	Fetch(ctx context.Context, paths []string) (map[string]Stored, error)
	// Paths lists what is there, some at a time: from "" on, then from where the last call ended, until that is "".
	Paths(ctx context.Context, from string) (paths []string, next string, err error)
	// Delete removes points.
	Delete(ctx context.Context, paths []string) error
	// Count returns the exact number of points.
	Count(ctx context.Context) (int, error)
	// Finish has the server index the points, where that was put off.
	Finish(ctx context.Context) error

	// Look describes a collection that is there.
	Look(ctx context.Context) (About, error)
	// Nearest finds the k points most similar to a unit vector, best first, by the server's index where there is one.
	Nearest(ctx context.Context, v []float32, k int) ([]Hit, error)
}

// OtherCollection says why a collection cannot hold the points.
type OtherCollection struct{ Store, Why string }

// Error implements error.
func (e *OtherCollection) Error() string { return e.Store + ": " + e.Why }

// RequestError is a request that a server refused, or did not answer although it was repeated.
type RequestError struct {
	Message  string // server, what was asked, the answer
	Refused  bool   // the server wants another key or password
	NoAnswer bool   // the server could not be reached
	Tries    int
	Least    time.Duration // that the server wants to be left alone
	Err      error
}

// Unwrap returns the client's error.
func (e *RequestError) Unwrap() error { return e.Err }
