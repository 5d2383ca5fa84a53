package qdrant

import (
	"context"
	"fmt"
	"slices"

	client "github.com/qdrant/go-client/qdrant"

	"winnow/search/vectordb"
)

// wire converts a point to the client's form.
func wire(p vectordb.Stored) *client.PointStruct {
	fields := map[string]*client.Value{
		vectordb.PathField:   client.NewValueString(p.Path),
		vectordb.ModelField:  client.NewValueString(p.Model),
		vectordb.DigestField: client.NewValueString(p.Digest),
	}
	for name, value := range p.Payload {
		fields[name] = client.NewValueString(value)
	}
	return &client.PointStruct{Id: client.NewIDUUID(ID(p.Path)), Vectors: client.NewVectorsDense(p.Vector),
		Payload: fields}
}

// stored converts a point from the client's form. Parts that were not requested stay empty.
func stored(payload map[string]*client.Value, vector []float32) vectordb.Stored {
	s := vectordb.Stored{Point: vectordb.Point{Vector: vector, Payload: map[string]string{}}}
	for name, value := range payload {
		text := value.GetStringValue()
		switch name {
		case vectordb.PathField:
			s.Path = text
		case vectordb.ModelField:
			s.Model = text
		case vectordb.DigestField:
			s.Digest = text
		default:
			s.Payload[name] = text
		}
	}
	return s
}

// Put implements vectordb.Store.
func (s *Server) Put(ctx context.Context, points []vectordb.Stored) (late bool, err error) {
	request := &client.UpsertPoints{CollectionName: s.collection, Wait: client.PtrOf(true)}
	for _, p := range points {
		request.Points = append(request.Points, wire(p))
	}
	err = s.try(ctx, s.about(len(points), points[0].Path), pointsTime, func(ctx context.Context) error {
		answer, err := s.client.Upsert(ctx, request)
		if err != nil {
			return err
		}
		late, err = isLate(answer)
		return err
	})
	return late, err
}

// isLate reports whether a change of points was only acknowledged: it is then in the server's log but not yet
// visible.
func isLate(answer *client.UpdateResult) (bool, error) {
	switch state := answer.GetStatus(); state {
	case client.UpdateStatus_Completed:
		return false, nil
	case client.UpdateStatus_Acknowledged, client.UpdateStatus_WaitTimeout:
		return true, nil
	default:
		return false, fmt.Errorf("the server answered %s", state)
	}
}

// about names the points of a request.
func (s *Server) about(n int, first string) string {
	return fmt.Sprintf("collection %s: %d points from %s", s.collection, n, first)
}

// Digests implements vectordb.Store.
func (s *Server) Digests(ctx context.Context, paths []string) (map[string]string, error) {
	found, err := s.fetch(ctx, s.about(len(paths), paths[0]), paths,
		client.NewWithPayloadInclude(vectordb.PathField, vectordb.DigestField), false)
	digests := make(map[string]string, len(found))
	for path, p := range found {
		digests[path] = p.Digest
	}
	return digests, err
}

// Fetch implements vectordb.Store.
func (s *Server) Fetch(ctx context.Context, paths []string) (map[string]vectordb.Stored, error) {
	return s.fetch(ctx, fmt.Sprintf("collection %s: reading %d points back", s.collection, len(paths)), paths,
		client.NewWithPayload(true), true)
}

// fetch reads points by id.
func (s *Server) fetch(ctx context.Context, what string, paths []string, fields *client.WithPayloadSelector,
	vectors bool) (map[string]vectordb.Stored, error) {
	request := &client.GetPoints{CollectionName: s.collection, WithPayload: fields,
		WithVectors: client.NewWithVectors(vectors)}
	asked := make(map[string]string, len(paths))
	for _, path := range paths {
		id := ID(path)
		asked[id] = path
		request.Ids = append(request.Ids, client.NewIDUUID(id))
	}
	found := map[string]vectordb.Stored{}
	err := s.try(ctx, what, pointsTime, func(ctx context.Context) error {
		list, err := s.client.Get(ctx, request)
		for _, p := range list {
			found[asked[p.GetId().GetUuid()]] = stored(p.GetPayload(),
				p.GetVectors().GetVector().GetDenseVector().GetData())
		}
		return err
	})
	return found, err
}

// pathsAtOnce is how many points one request lists.
const pathsAtOnce = 1000

// Paths implements vectordb.Store. It skips points of other software, which have no path.
func (s *Server) Paths(ctx context.Context, from string) (paths []string, next string, err error) {
	request := &client.ScrollPoints{CollectionName: s.collection, Limit: client.PtrOf(uint32(pathsAtOnce)),
		WithPayload: client.NewWithPayloadInclude(vectordb.PathField), WithVectors: client.NewWithVectors(false)}
	if from != "" {
		request.Offset = client.NewIDUUID(from)
	}
	err = s.try(ctx, "listing collection "+s.collection, pointsTime, func(ctx context.Context) error {
		list, offset, err := s.client.ScrollAndOffset(ctx, request)
		paths, next = nil, offset.GetUuid()
		for _, p := range list {
			paths = append(paths, p.GetPayload()[vectordb.PathField].GetStringValue())
		}
		return err
	})
	return slices.DeleteFunc(paths, func(path string) bool { return path == "" }), next, err
}

// Delete implements vectordb.Store.
func (s *Server) Delete(ctx context.Context, paths []string) error {
	ids := make([]*client.PointId, len(paths))
	for i, path := range paths {
		ids[i] = client.NewIDUUID(ID(path))
	}
	request := &client.DeletePoints{CollectionName: s.collection, Wait: client.PtrOf(true),
		Points: client.NewPointsSelector(ids...)}
	return s.try(ctx, fmt.Sprintf("deleting %d points of collection %s", len(paths), s.collection), pointsTime,
		func(ctx context.Context) error {
			_, err := s.client.Delete(ctx, request)
			return err
		})
}

// Count implements vectordb.Store.
func (s *Server) Count(ctx context.Context) (int, error) {
	var n uint64
	err := s.try(ctx, "counting the points of collection "+s.collection, collectionTime,
		func(ctx context.Context) (err error) {
			n, err = s.client.Count(ctx, &client.CountPoints{CollectionName: s.collection, Exact: client.PtrOf(true)})
			return err
		})
	return int(n), err
}

// Nearest implements vectordb.Store.
func (s *Server) Nearest(ctx context.Context, v []float32, k int) (hits []vectordb.Hit, err error) {
	request := &client.QueryPoints{CollectionName: s.collection, Query: client.NewQueryDense(v),
		Limit: client.PtrOf(uint64(k)), WithPayload: client.NewWithPayload(true)}
	err = s.try(ctx, "searching collection "+s.collection, pointsTime, func(ctx context.Context) error {
		list, err := s.client.Query(ctx, request)
		hits = nil
		for _, p := range list {
			found := stored(p.GetPayload(), nil)
			hits = append(hits, vectordb.Hit{Path: found.Path, Payload: found.Payload,
				Similarity: float64(p.GetScore())})
		}
		return err
	})
	return hits, err
}
