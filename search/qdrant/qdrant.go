// Package qdrant stores named vectors in a collection of a Qdrant server, through its gRPC interface, and searches
// them. It is a [vectordb.Store].
//
// # What is stored
//
// One point per image. Its id is the UUID (version 5) of the image's path in the namespace of URLs, so that
//
//	uuid.uuid5(uuid.NAMESPACE_URL, path)
//
// finds it from any language. An image that is sent again replaces itself, and later images move no other. Each
// point has one unnamed float32 vector under cosine distance, which the server normalises. The payload is text: the
// path, what the source knows about the image (label, split, …), the sha256 of the model that made the vector, and
// a digest of all that.
//
// # Indexing
//
// As Qdrant's page on bulk uploads recommends, a collection made here defers its graph (hnsw m = 0) until all
// points are in; then m becomes 16, the server's default. The collection's metadata record that state, so the call
// that finishes an interrupted upload turns indexing on. A collection made elsewhere keeps its settings.
//
// # What this was tested against
//
// No Qdrant server was available. The tests speak Qdrant's wire format (the client's generated gRPC services) with
// an in-memory server, internal/testing/qdranttest, which follows the documented behaviour and fails on purpose in
// the ways that matter.
package qdrant

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	client "github.com/qdrant/go-client/qdrant"

	"winnow/search/vectordb"
)

// streams is how many goroutines send at the same time; Qdrant recommends two to four.
const streams = 4

// Server is a collection on a server, and the connection to it.
type Server struct {
	address    Address
	collection string
	client     *client.Client
	tries      vectordb.Tries

	options  vectordb.Options // of the upload
	dim      int              // of the vectors
	deferred bool             // indexing is deferred by winnow and must be turned on at the end
}

var _ vectordb.Store = (*Server)(nil)

// Dial prepares a connection. It sends nothing yet. key may be empty.
func Dial(a Address, key, collection string) (*Server, error) {
	cfg := &client.Config{Host: a.Host, Port: a.Port, UseTLS: a.TLS, SkipCompatibilityCheck: true, PoolSize: streams,
		KeepAliveTime: 30, KeepAliveTimeout: 20}
	if key != "" {
		cfg.Headers = map[string]string{"api-key": key} // not APIKey, whose warning goes to the log
	}
	c, err := client.NewClient(cfg)
	if err != nil {
		return nil, fmt.Errorf("qdrant: %s: %w", a, err)
	}
	return &Server{address: a, client: c, collection: collection}, nil
}

// Address implements vectordb.Store.
func (s *Server) Address() string { return s.address.String() }

// Collection implements vectordb.Store.
func (s *Server) Collection() string { return s.collection }

// String implements vectordb.Store.
func (s *Server) String() string {
	return fmt.Sprintf("qdrant: %s: collection %s", s.address, s.collection)
}

// Streams implements vectordb.Store.
func (s *Server) Streams() int { return streams }

// Tries implements vectordb.Store.
func (s *Server) Tries() *vectordb.Tries { return &s.tries }

// Close ends the connection.
func (s *Server) Close() error { return s.client.Close() }

// Hello implements vectordb.Store.
func (s *Server) Hello(ctx context.Context) (version string, err error) {
	err = s.try(ctx, "first request", pointsTime, func(ctx context.Context) error {
		health, err := s.client.HealthCheck(ctx)
		version = health.GetVersion()
		return err
	})
	return version, err
}

// Time limits of requests.
const (
	pointsTime     = time.Minute
	collectionTime = 5 * time.Minute // a change of settings waits until the server finishes its current work
)

// ID returns the id of a path's point: its version 5 UUID in the URL namespace (RFC 9562, section 5.5).
func ID(path string) string { return uuid.NewSHA1(uuid.NameSpaceURL, []byte(path)).String() }
