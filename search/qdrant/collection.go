package qdrant

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	client "github.com/qdrant/go-client/qdrant"
)

// uploadKey is the entry of a collection's metadata that says how far an upload of ours into a collection of ours is.
// Servers before 1.16 keep no metadata.
const (
	uploadKey  = "winnow_upload"
	unfinished = "unfinished"
	finished   = "finished"
)

// edges is Qdrant's default m, the edges of a node of its graph; 0 defers the graph.
const edges = 16

// collection is what is known of the collection before the first point is sent.
type collection struct {
	created  bool
	empty    bool // it held nothing: there is nothing to ask for
	deferred bool // by us: indexing must be turned on at the end
	limit    float64
}

// How much a number of a vector read back may differ from what was sent, both of length 1.
const (
	floatLimit = 1e-5
	halfLimit  = 2e-3
)

// open makes the collection, or checks the one that exists.
func (u *upload) open(ctx context.Context) error {
	name := u.o.Collection
	var there bool
	err := u.try(ctx, "looking for collection "+name, pointsTime, func(ctx context.Context) (err error) {
		there, err = u.s.client.CollectionExists(ctx, name)
		return err
	})
	if err != nil {
		return err
	}
	if there && u.o.Recreate {
		if err := u.try(ctx, "deleting collection "+name, collectionTime, func(ctx context.Context) error {
			return u.s.client.DeleteCollection(ctx, name)
		}); err != nil {
			return err
		}
		there = false
	}
	if !there {
		return u.create(ctx)
	}
	return u.take(ctx)
}

// create makes the collection, with indexing deferred.
func (u *upload) create(ctx context.Context) error {
	name := u.o.Collection
	off := uint64(0)
	params := &client.VectorParams{Size: uint64(u.src.Width()), Distance: client.Distance_Cosine}
	if u.o.OnDisk {
		//lint:ignore SA1019 the only way that servers before 1.19 know too
		params.OnDisk = &u.o.OnDisk
	}
	err := u.try(ctx, "making collection "+name, collectionTime, func(ctx context.Context) error {
		return u.s.client.CreateCollection(ctx, &client.CreateCollection{
			CollectionName: name,
			VectorsConfig:  client.NewVectorsConfig(params),
			HnswConfig:     &client.HnswConfigDiff{M: &off},
			Metadata:       map[string]*client.Value{uploadKey: client.NewValueString(unfinished)},
		})
	})
	if err != nil {
		// An answer that was lost on its way leaves a collection behind: then the next try is refused.
		if again := u.take(ctx); again != nil || !u.c.empty {
			return err
		}
	}
	u.c = collection{created: true, empty: true, deferred: true, limit: floatLimit}
	return u.index(ctx, nil)
}

// index makes the missing indexes of fields.
func (u *upload) index(ctx context.Context, there map[string]*client.PayloadSchemaInfo) error {
	name := u.o.Collection
	for _, field := range u.o.Indexed {
		if there[field] != nil {
			continue
		}
		if err := u.try(ctx, fmt.Sprintf("indexing field %s of collection %s", field, name), collectionTime, func(ctx context.Context) error {
			_, err := u.s.client.CreateFieldIndex(ctx, &client.CreateFieldIndexCollection{
				CollectionName: name, FieldName: field, FieldType: client.FieldType_FieldTypeKeyword.Enum(), Wait: client.PtrOf(true)})
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// take checks that an existing collection can hold the points.
func (u *upload) take(ctx context.Context) error {
	var info *client.CollectionInfo
	err := u.try(ctx, "reading the settings of collection "+u.o.Collection, pointsTime, func(ctx context.Context) (err error) {
		info, err = u.s.client.GetCollectionInfo(ctx, u.o.Collection)
		return err
	})
	if err != nil {
		return err
	}
	if u.c.limit, err = u.fits(info.GetConfig()); err != nil {
		return err
	}
	state := info.GetConfig().GetMetadata()[uploadKey].GetStringValue()
	u.c.deferred = state == unfinished
	if hnsw := info.GetConfig().GetHnswConfig(); hnsw.M != nil && hnsw.GetM() == 0 && hnsw.GetPayloadM() == 0 && !u.c.deferred {
		u.note("collection %s is not indexed (hnsw m = 0), and stays so: set m = 16 when all is in, if that is not on purpose", u.o.Collection)
	}
	if err := u.sameModel(ctx); err != nil || !u.c.deferred {
		return err
	}
	return u.index(ctx, info.GetPayloadSchema()) // the upload that made the collection may have died before that
}

// fits compares the settings of a collection with the points to upload, and returns how exact its numbers are.
func (u *upload) fits(c *client.CollectionConfig) (limit float64, err error) {
	differs := func(found, expected string, args ...any) (float64, error) {
		return 0, &OtherCollection{Server: u.s.address.String(), Collection: u.o.Collection, Why: fmt.Sprintf("found "+found+", expected "+expected, args...)}
	}
	config := c.GetParams().GetVectorsConfig()
	p := config.GetParams()
	switch dim := uint64(u.src.Width()); {
	case p == nil:
		return differs("vectors named %s", "one without a name", strings.Join(slices.Sorted(maps.Keys(config.GetParamsMap().GetMap())), ", "))
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

// sameModel checks one point: a collection holds vectors of one model.
func (u *upload) sameModel(ctx context.Context) error {
	var some []*client.RetrievedPoint
	err := u.try(ctx, "looking into collection "+u.o.Collection, pointsTime, func(ctx context.Context) (err error) {
		some, err = u.s.client.Scroll(ctx, &client.ScrollPoints{CollectionName: u.o.Collection, Limit: client.PtrOf(uint32(1)),
			WithPayload: client.NewWithPayloadInclude(ModelField), WithVectors: client.NewWithVectors(false)})
		return err
	})
	if err != nil {
		return err
	}
	if u.c.empty = len(some) == 0; u.c.empty {
		return nil
	}
	if found := some[0].GetPayload()[ModelField].GetStringValue(); found != u.o.Model {
		found = cmp.Or(found, "another software")
		return &OtherCollection{Server: u.s.address.String(), Collection: u.o.Collection, Why: fmt.Sprintf("found vectors made by %.12s, expected by %.12s", found, u.o.Model)}
	}
	return nil
}

// finish turns indexing on if this upload, or the one that it continues, had deferred it.
func (u *upload) finish(ctx context.Context) error {
	if !u.c.deferred {
		return nil
	}
	return u.try(ctx, "turning on the index of collection "+u.o.Collection, collectionTime, func(ctx context.Context) error {
		return u.s.client.UpdateCollection(ctx, &client.UpdateCollection{
			CollectionName: u.o.Collection,
			HnswConfig:     &client.HnswConfigDiff{M: client.PtrOf(uint64(edges))},
			Metadata:       map[string]*client.Value{uploadKey: client.NewValueString(finished)},
		})
	})
}

// OtherCollection says why a collection cannot hold the points.
type OtherCollection struct{ Server, Collection, Why string }

func (e *OtherCollection) Error() string {
	return fmt.Sprintf("qdrant: %s: collection %q: %s", e.Server, e.Collection, e.Why)
}
