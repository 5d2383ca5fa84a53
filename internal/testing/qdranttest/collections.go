package qdranttest

import (
	"context"

	client "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var unauthenticated = status.Error(codes.Unauthenticated, "Must provide an API key or an Authorization bearer token")

type collections struct {
	client.UnimplementedCollectionsServer
	s *Server
}

// find returns a collection, or Qdrant's error if there is none.
func (s *Server) find(name string) (*Collection, error) {
	if c := s.Collections[name]; c != nil {
		return c, nil
	}
	return nil, status.Errorf(codes.NotFound, "Not found: Collection `%s` doesn't exist!", name)
}

// CollectionExists implements the service.
func (c collections) CollectionExists(_ context.Context,
	r *client.CollectionExistsRequest) (*client.CollectionExistsResponse, error) {
	return &client.CollectionExistsResponse{Result: &client.CollectionExists{
		Exists: c.s.Collections[r.GetCollectionName()] != nil}}, nil
}

// Get implements the service.
func (c collections) Get(_ context.Context, r *client.GetCollectionInfoRequest) (*client.GetCollectionInfoResponse,
	error) {
	found, err := c.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	fields := map[string]*client.PayloadSchemaInfo{}
	for _, name := range found.Fields {
		fields[name] = &client.PayloadSchemaInfo{DataType: client.PayloadSchemaType_Keyword}
	}
	return &client.GetCollectionInfoResponse{Result: &client.CollectionInfo{Status: client.CollectionStatus_Green,
		Config: found.Config, PayloadSchema: fields,
		PointsCount: client.PtrOf(uint64(len(found.Points)))}}, nil
}

// Create implements the service.
func (c collections) Create(_ context.Context, r *client.CreateCollection) (*client.CollectionOperationResponse,
	error) {
	if c.s.Collections[r.GetCollectionName()] != nil {
		return nil, status.Errorf(codes.AlreadyExists, "Wrong input: Collection `%s` already exists!",
			r.GetCollectionName())
	}
	made := &Collection{Points: map[string]*client.RetrievedPoint{}, Config: &client.CollectionConfig{
		Params:     &client.CollectionParams{VectorsConfig: r.GetVectorsConfig()},
		HnswConfig: &client.HnswConfigDiff{M: client.PtrOf(uint64(16))},
		Metadata:   map[string]*client.Value{},
	}}
	c.s.Collections[r.GetCollectionName()] = made
	c.s.change(made, r.GetHnswConfig(), r.GetMetadata())
	return &client.CollectionOperationResponse{Result: true}, nil
}

// Update implements the service.
func (c collections) Update(_ context.Context, r *client.UpdateCollection) (*client.CollectionOperationResponse,
	error) {
	found, err := c.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	c.s.change(found, r.GetHnswConfig(), r.GetMetadata())
	return &client.CollectionOperationResponse{Result: true}, nil
}

// change sets what a request names.
func (s *Server) change(c *Collection, h *client.HnswConfigDiff, about map[string]*client.Value) {
	if h != nil && h.M != nil {
		c.Config.HnswConfig.M = h.M
		c.Ms = append(c.Ms, h.GetM())
	}
	for key, value := range about {
		if !s.OldServer {
			c.Config.Metadata[key] = value
		}
	}
}

// Delete implements the service.
func (c collections) Delete(_ context.Context, r *client.DeleteCollection) (*client.CollectionOperationResponse,
	error) {
	delete(c.s.Collections, r.GetCollectionName())
	return &client.CollectionOperationResponse{Result: true}, nil
}
