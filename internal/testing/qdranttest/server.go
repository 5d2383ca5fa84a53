// Package qdranttest is a Qdrant server for tests: collections in memory behind the gRPC services from which
// Qdrant's Go client is generated. It is not Qdrant. It does what Qdrant documents about the calls that winnow
// makes (a collection refuses vectors of another size, cosine vectors are divided by their length, an upsert
// replaces a point, m = 0 builds no graph), and it fails when a test wants it to.
package qdranttest

import (
	"context"
	"math"
	"net"
	"sync"
	"testing"
	"time"

	client "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
)

// Version is the one the server says it has.
const Version = "1.19.0"

// Fault is called before and after each call; n counts the calls of the method from 1. An error before the call
// prevents it; an error after the call discards its answer.
type Fault func(method string, n int, after bool) error

// Server holds collections. Its data outlives [Server.Stop], as on a disk.
type Server struct {
	Collections map[string]*Collection
	Fault       Fault
	Key         string         // if not "", every call needs it
	Calls       map[string]int // number of calls by method, including failed ones
	OldServer   bool           // keeps no metadata, as before 1.16
	Late        int            // this many counts miss the newest points, and upserts are only acknowledged

	mu       sync.Mutex // guards all of the above
	faults   sync.Mutex // one Fault at a time, because it may stop the server
	listener net.Listener
	grpc     *grpc.Server
}

// Collection is a collection and its points.
type Collection struct {
	Config *client.CollectionConfig
	Points map[string]*client.RetrievedPoint
	Fields []string // fields with an index
	Ms     []uint64 // values of hnsw m, in order
}

// New starts a server on a free port of the loopback address. It ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{Collections: map[string]*Collection{}, Calls: map[string]int{}}
	s.Start(t, "127.0.0.1:0")
	t.Cleanup(func() { s.grpc.Stop() })
	return s
}

// Start listens; after [Server.Stop] it listens at the same address again.
func (s *Server) Start(t testing.TB, address string) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s.listener = listener
	s.grpc = grpc.NewServer(grpc.UnaryInterceptor(s.intercept), grpc.WaitForHandlers(true),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}))
	client.RegisterQdrantServer(s.grpc, health{})
	client.RegisterCollectionsServer(s.grpc, collections{s: s})
	client.RegisterPointsServer(s.grpc, points{s: s})
	go func(g *grpc.Server) { _ = g.Serve(listener) }(s.grpc)
}

// Stop breaks all connections and waits for calls in progress.
func (s *Server) Stop() { s.grpc.Stop() }

// Holds returns the current number of points in a collection.
func (s *Server) Holds(collection string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.Collections[collection]; c != nil {
		return len(c.Points)
	}
	return 0
}

// Address returns host and port.
func (s *Server) Address() string { return s.listener.Addr().String() }

// URL returns the address as users write it.
func (s *Server) URL() string { return "http://" + s.Address() }

// intercept counts calls, checks the key, and applies faults.
func (s *Server) intercept(ctx context.Context, request any, info *grpc.UnaryServerInfo,
	handle grpc.UnaryHandler) (any, error) {
	s.mu.Lock()
	s.Calls[info.FullMethod]++
	n, fault, key := s.Calls[info.FullMethod], s.Fault, s.Key
	s.mu.Unlock()
	if md, _ := metadata.FromIncomingContext(ctx); key != "" &&
		(len(md.Get("api-key")) != 1 || md.Get("api-key")[0] != key) {
		return nil, unauthenticated
	}
	if err := s.fails(fault, info.FullMethod, n, false); err != nil {
		return nil, err
	}
	s.mu.Lock()
	answer, err := handle(ctx, request)
	s.mu.Unlock()
	if err == nil {
		err = s.fails(fault, info.FullMethod, n, true)
	}
	return answer, err
}

func (s *Server) fails(fault Fault, method string, n int, after bool) error {
	if fault == nil {
		return nil
	}
	s.faults.Lock()
	defer s.faults.Unlock()
	return fault(method, n, after)
}

type health struct {
	client.UnimplementedQdrantServer
}

// HealthCheck implements the service.
func (health) HealthCheck(context.Context, *client.HealthCheckRequest) (*client.HealthCheckReply, error) {
	return &client.HealthCheckReply{Title: "qdrant - vector search engine", Version: Version}, nil
}

// unit divides a vector by its length, as Qdrant does under cosine distance.
func unit(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	list := make([]float32, len(v))
	for i, x := range v {
		list[i] = float32(float64(x) / max(math.Sqrt(sum), math.SmallestNonzeroFloat32))
	}
	return list
}

// Restart starts the server again, once, after down; calls that come later find it started.
func (s *Server) Restart(t testing.TB, down <-chan struct{}, address string, started *bool) {
	<-down
	s.faults.Lock()
	defer s.faults.Unlock()
	if !*started {
		*started = true
		s.Start(t, address)
	}
}
