package qdrant

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	client "github.com/qdrant/go-client/qdrant"

	"winnow/search/vectordb"
)

// uploadKey is the entry of the collection's metadata that holds the state of winnow's upload. Servers before 1.16
// keep no metadata.
const (
	uploadKey  = "winnow_upload"
	unfinished = "unfinished"
	finished   = "finished"
)

// edges is Qdrant's default m, the edges per node of its graph; 0 defers building the graph.
const edges = 16

// How much a value of a unit vector may differ when it is read back.
const (
	floatLimit = 1e-5
	halfLimit  = 2e-3
)

// Open implements vectordb.Store. If it makes the collection, indexing is deferred.
func (s *Server) Open(ctx context.Context, dim int, o vectordb.Options) (vectordb.Opened, error) {
	s.options, s.dim = o, dim
	there, err := s.exists(ctx)
	if err != nil {
		return vectordb.Opened{}, err
	}
	if there && o.Recreate {
		if err := s.try(ctx, "deleting collection "+s.collection, collectionTime, func(ctx context.Context) error {
			return s.client.DeleteCollection(ctx, s.collection)
		}); err != nil {
			return vectordb.Opened{}, err
		}
		there = false
	}
	if !there {
		return s.create(ctx)
	}
	return s.take(ctx)
}

func (s *Server) exists(ctx context.Context) (there bool, err error) {
	err = s.try(ctx, "looking for collection "+s.collection, pointsTime, func(ctx context.Context) (err error) {
		there, err = s.client.CollectionExists(ctx, s.collection)
		return err
	})
	return there, err
}

// create makes the collection, with indexing deferred.
func (s *Server) create(ctx context.Context) (vectordb.Opened, error) {
	off := uint64(0)
	params := &client.VectorParams{Size: uint64(s.dim), Distance: client.Distance_Cosine}
	if s.options.OnDisk {
		//lint:ignore SA1019 servers before 1.19 know no other way
		params.OnDisk = &s.options.OnDisk
	}
	err := s.try(ctx, "making collection "+s.collection, collectionTime, func(ctx context.Context) error {
		return s.client.CreateCollection(ctx, &client.CreateCollection{
			CollectionName: s.collection,
			VectorsConfig:  client.NewVectorsConfig(params),
			HnswConfig:     &client.HnswConfigDiff{M: &off},
			Metadata:       map[string]*client.Value{uploadKey: client.NewValueString(unfinished)},
		})
	})
	if err != nil {
		// If the answer to an earlier try was lost, the collection exists and this try is refused.
		if c, again := s.take(ctx); again != nil || !c.Empty {
			return c, err
		}
	}
	s.deferred = true
	return vectordb.Opened{Created: true, Empty: true, Limit: floatLimit}, s.index(ctx, nil)
}

// index makes the missing field indexes.
func (s *Server) index(ctx context.Context, there map[string]*client.PayloadSchemaInfo) error {
	for _, field := range s.options.Columns {
		if there[field] != nil {
			continue
		}
		if err := s.try(ctx, fmt.Sprintf("indexing field %s of collection %s", field, s.collection), collectionTime,
			func(ctx context.Context) error {
				_, err := s.client.CreateFieldIndex(ctx, &client.CreateFieldIndexCollection{
					CollectionName: s.collection, FieldName: field, FieldType: client.FieldType_FieldTypeKeyword.Enum(),
					Wait: client.PtrOf(true)})
				return err
			}); err != nil {
			return err
		}
	}
	return nil
}

// info reads the server's description of the collection.
func (s *Server) info(ctx context.Context) (info *client.CollectionInfo, err error) {
	err = s.try(ctx, "reading the settings of collection "+s.collection, pointsTime,
		func(ctx context.Context) (err error) {
			info, err = s.client.GetCollectionInfo(ctx, s.collection)
			return err
		})
	return info, err
}

// take checks that an existing collection can hold the points.
func (s *Server) take(ctx context.Context) (c vectordb.Opened, err error) {
	info, err := s.info(ctx)
	if err != nil {
		return c, err
	}
	if c.Limit, err = s.fits(info.GetConfig()); err != nil {
		return c, err
	}
	state := info.GetConfig().GetMetadata()[uploadKey].GetStringValue()
	s.deferred = state == unfinished
	if hnsw := info.GetConfig().GetHnswConfig(); hnsw.M != nil && hnsw.GetM() == 0 && hnsw.GetPayloadM() == 0 &&
		!s.deferred {
		s.tries.Note("collection %s is not indexed (hnsw m = 0), and winnow leaves it so: set m = 16 when all "+
			"points are in, unless that is intended", s.collection)
	}
	found, some, err := s.model(ctx)
	c.Empty = !some
	if err != nil {
		return c, err
	}
	if some && found != s.options.Model {
		return c, s.other("found vectors made by %.12s, expected by %.12s", cmp.Or(found, "other software"),
			s.options.Model)
	}
	if s.deferred {
		// The upload that made the collection may have died before this step.
		err = s.index(ctx, info.GetPayloadSchema())
	}
	return c, err
}

func (s *Server) other(why string, args ...any) error {
	return &vectordb.OtherCollection{Store: fmt.Sprintf("qdrant: %s: collection %q", s.address, s.collection),
		Why: fmt.Sprintf(why, args...)}
}

// fits checks the settings of a collection against the points to upload, and returns the tolerance of its number
// type.
func (s *Server) fits(c *client.CollectionConfig) (limit float64, err error) {
	differs := func(found, expected string, args ...any) (float64, error) {
		return 0, s.other("found "+found+", expected "+expected, args...)
	}
	config := c.GetParams().GetVectorsConfig()
	p := config.GetParams()
	switch dim := uint64(s.dim); {
	case p == nil:
		return differs("vectors named %s", "one without a name",
			strings.Join(slices.Sorted(maps.Keys(config.GetParamsMap().GetMap())), ", "))
	case p.GetSize() != dim:
		return differs("vectors of %d values", "%d", p.GetSize(), dim)
	case p.GetDistance() != client.Distance_Cosine:
		return differs("distance %s", "Cosine", p.GetDistance())
	case p.GetMultivectorConfig() != nil:
		return differs("several vectors a point", "one")
	case p.GetDatatype() == client.Datatype_Float16:
		return halfLimit, nil
	case p.GetDatatype() != client.Datatype_Default && p.GetDatatype() != client.Datatype_Float32:
		return differs("numbers of type %s", "Float32", p.GetDatatype())
	}
	return floatLimit, nil
}

// model reads the model of one point: a collection holds vectors of one model only.
func (s *Server) model(ctx context.Context) (model string, some bool, err error) {
	var points []*client.RetrievedPoint
	err = s.try(ctx, "looking into collection "+s.collection, pointsTime, func(ctx context.Context) (err error) {
		points, err = s.client.Scroll(ctx, &client.ScrollPoints{
			CollectionName: s.collection, Limit: client.PtrOf(uint32(1)),
			WithPayload: client.NewWithPayloadInclude(vectordb.ModelField),
			WithVectors: client.NewWithVectors(false),
		})
		return err
	})
	if err != nil || len(points) == 0 {
		return "", false, err
	}
	return points[0].GetPayload()[vectordb.ModelField].GetStringValue(), true, nil
}

// Look implements vectordb.Store.
func (s *Server) Look(ctx context.Context) (a vectordb.About, err error) {
	if a.Server, err = s.Hello(ctx); err != nil {
		return a, err
	}
	info, err := s.info(ctx)
	if err != nil {
		return a, err
	}
	a.Dim = int(info.GetConfig().GetParams().GetVectorsConfig().GetParams().GetSize())
	if a.Model, _, err = s.model(ctx); err != nil {
		return a, err
	}
	a.Points, err = s.Count(ctx)
	return a, err
}

// Finish turns indexing on if this upload, or the one that it continues, deferred it.
func (s *Server) Finish(ctx context.Context) error {
	if !s.deferred {
		return nil
	}
	return s.try(ctx, "turning on the index of collection "+s.collection, collectionTime,
		func(ctx context.Context) error {
			return s.client.UpdateCollection(ctx, &client.UpdateCollection{
				CollectionName: s.collection,
				HnswConfig:     &client.HnswConfigDiff{M: client.PtrOf(uint64(edges))},
				Metadata:       map[string]*client.Value{uploadKey: client.NewValueString(finished)},
			})
		})
}
