// Package qdrant puts vectors with names into a collection of a Qdrant server, through its gRPC interface, and finds them
// there: a [vectordb.Store].
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
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	client "github.com/qdrant/go-client/qdrant"

	"winnow/search/vectordb"
)

// streams send at the same time; Qdrant recommends two to four.
const streams = 4

// Server is a connection, and a collection of the server.
type Server struct {
	address    Address
	collection string
	client     *client.Client
	tries      vectordb.Tries

	options  vectordb.Options // of the upload
	dim      int              // of its vectors
	deferred bool             // indexing, by us: it must be turned on at the end
}

var _ vectordb.Store = (*Server)(nil)

// Dial prepares a connection; nothing is sent yet. key may be empty.
func Dial(a Address, key, collection string) (*Server, error) {
	cfg := &client.Config{Host: a.Host, Port: a.Port, UseTLS: a.TLS, SkipCompatibilityCheck: true, PoolSize: streams, KeepAliveTime: 30, KeepAliveTimeout: 20}
	if key != "" {
		cfg.Headers = map[string]string{"api-key": key} // and not APIKey, whose warning goes to the log
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

// Times of requests.
const (
	pointsTime     = time.Minute
	collectionTime = 5 * time.Minute // a change of settings waits for what the server is about to finish
)

// ID returns the text of a point's id: the version 5 UUID of its path in the namespace of URLs (RFC 9562, section 5.5).
func ID(path string) string { return uuid.NewSHA1(uuid.NameSpaceURL, []byte(path)).String() }
