package qdranttest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	client "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

type points struct {
	client.UnimplementedPointsServer
	s *Server
}

// Upsert implements the service.
func (p points) Upsert(_ context.Context, r *client.UpsertPoints) (*client.PointsOperationResponse, error) {
	c, err := p.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	want := c.Config.GetParams().GetVectorsConfig().GetParams()
	for _, point := range r.GetPoints() {
		if got := len(dense(point)); uint64(got) != want.GetSize() {
			return nil, status.Errorf(codes.InvalidArgument,
				"Wrong input: Vector dimension error: expected dim: %d, got %d", want.GetSize(), got)
		}
	}
	for _, point := range r.GetPoints() {
		v := dense(point)
		if want.GetDistance() == client.Distance_Cosine {
			v = unit(v)
		}
		c.Points[point.GetId().GetUuid()] = &client.RetrievedPoint{Id: point.GetId(), Payload: point.GetPayload(),
			Vectors: &client.VectorsOutput{
				VectorsOptions: &client.VectorsOutput_Vector{Vector: &client.VectorOutput{
					Vector: &client.VectorOutput_Dense{Dense: &client.DenseVector{Data: v}}}}}}
	}
	state := client.UpdateStatus_Completed
	if !r.GetWait() || p.s.Late > 0 {
		state = client.UpdateStatus_Acknowledged
	}
	return &client.PointsOperationResponse{Result: &client.UpdateResult{Status: state}}, nil
}

// dense returns the vector of a point.
func dense(p *client.PointStruct) []float32 { return p.GetVectors().GetVector().GetDense().GetData() }

// Get implements the service.
func (p points) Get(_ context.Context, r *client.GetPoints) (*client.GetResponse, error) {
	c, err := p.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	answer := &client.GetResponse{}
	for _, id := range r.GetIds() {
		if point := c.Points[id.GetUuid()]; point != nil {
			answer.Result = append(answer.Result, shown(point, r.GetWithPayload(), r.GetWithVectors()))
		}
	}
	return answer, nil
}

// Scroll implements the service.
func (p points) Scroll(_ context.Context, r *client.ScrollPoints) (*client.ScrollResponse, error) {
	c, err := p.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	answer := &client.ScrollResponse{}
	for _, id := range slices.Sorted(maps.Keys(c.Points)) {
		if id < r.GetOffset().GetUuid() {
			continue
		}
		if len(answer.Result) == int(r.GetLimit()) {
			answer.NextPageOffset = client.NewIDUUID(id)
			break
		}
		answer.Result = append(answer.Result, shown(c.Points[id], r.GetWithPayload(), r.GetWithVectors()))
	}
	return answer, nil
}

// shown returns a point with the parts that were requested.
func shown(p *client.RetrievedPoint, payload *client.WithPayloadSelector,
	vectors *client.WithVectorsSelector) *client.RetrievedPoint {
	out := &client.RetrievedPoint{Id: p.GetId(), Payload: map[string]*client.Value{}}
	for name, value := range p.GetPayload() {
		if payload.GetEnable() || slices.Contains(payload.GetInclude().GetFields(), name) {
			out.Payload[name] = value
		}
	}
	if vectors.GetEnable() {
		out.Vectors = p.GetVectors()
	}
	return out
}

// Delete implements the service.
func (p points) Delete(_ context.Context, r *client.DeletePoints) (*client.PointsOperationResponse, error) {
	c, err := p.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	for _, id := range r.GetPoints().GetPoints().GetIds() {
		delete(c.Points, id.GetUuid())
	}
	return &client.PointsOperationResponse{Result: &client.UpdateResult{Status: client.UpdateStatus_Completed}}, nil
}

// Query implements the service, for one vector.
func (p points) Query(_ context.Context, r *client.QueryPoints) (*client.QueryResponse, error) {
	c, err := p.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	q := unit(r.GetQuery().GetNearest().GetDense().GetData())
	answer := &client.QueryResponse{}
	for _, point := range c.Points {
		var score float32
		for i, v := range point.GetVectors().GetVector().GetDense().GetData() {
			score += v * q[i]
		}
		answer.Result = append(answer.Result,
			&client.ScoredPoint{Id: point.GetId(), Score: score,
				Payload: shown(point, r.GetWithPayload(), nil).GetPayload()})
	}
	slices.SortFunc(answer.Result, func(a,
		b *client.ScoredPoint) int {
		return cmp.Compare(b.GetScore(), a.GetScore())
	})
	answer.Result = answer.Result[:min(int(r.GetLimit()), len(answer.Result))]
	return answer, nil
}

// Count implements the service.
func (p points) Count(_ context.Context, r *client.CountPoints) (*client.CountResponse, error) {
	c, err := p.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	n := uint64(len(c.Points))
	if p.s.Late > 0 {
		p.s.Late--
		n -= min(n, 1)
	}
	return &client.CountResponse{Result: &client.CountResult{Count: n}}, nil
}

// CreateFieldIndex implements the service.
func (p points) CreateFieldIndex(_ context.Context,
	r *client.CreateFieldIndexCollection) (*client.PointsOperationResponse, error) {
	c, err := p.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	if !slices.Contains(c.Fields, r.GetFieldName()) {
		c.Fields = append(c.Fields, r.GetFieldName())
	}
	return &client.PointsOperationResponse{Result: &client.UpdateResult{Status: client.UpdateStatus_Completed}}, nil
}
