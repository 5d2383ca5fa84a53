package qdrant

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	client "github.com/qdrant/go-client/qdrant"
)

// streams send at the same time; Qdrant recommends two to four.
const streams = 4

// requestBytes bounds a request of long vectors.
const requestBytes = 8 << 20

// upload is one call of Upload.
type upload struct {
	s   *Server
	src Source
	o   Options
	c   collection

	batch    int  // points a request
	answered bool // the server has, once
	rows     int  // that the source gave
	seen     map[[16]byte]struct{}
	samples  []Point

	mu         sync.Mutex // of what follows, which the streams write, and of the caller's functions
	sent, kept int
	late       bool // the server has taken points that it had not stored yet when it answered
}

// Upload writes the points of src into a collection and checks that they are there.
func Upload(ctx context.Context, s *Server, src Source, o Options) (Result, error) {
	if err := o.check(src); err != nil {
		return Result{}, err
	}
	u := &upload{s: s, src: src, o: o, seen: map[[16]byte]struct{}{}}
	u.batch = min(o.Batch, max(requestBytes/(4*src.Width()), 1))
	r := Result{Collection: o.Collection, Dim: src.Width()}
	err := u.try(ctx, "first request", pointsTime, func(ctx context.Context) error {
		health, err := s.client.HealthCheck(ctx)
		r.Server = health.GetVersion()
		return err
	})
	if err != nil {
		return r, err
	}
	u.answered = true
	if err := u.open(ctx); err != nil {
		return r, err
	}
	r.Created = u.c.created
	if err := u.all(ctx); err != nil {
		return r, err
	}
	r.Rows, r.Sent, r.Kept = u.rows, u.sent, u.kept
	if r.Points, err = u.verify(ctx); err != nil {
		return r, err
	}
	r.Compared = len(u.samples)
	return r, u.finish(ctx)
}

func (o Options) check(src Source) error {
	switch {
	case o.Collection == "":
		return errors.New("qdrant: the collection has no name, expected one")
	case o.Batch < 1:
		return fmt.Errorf("qdrant: %d points a request, expected at least 1", o.Batch)
	case src.Len() < 1 || src.Width() < 1:
		return fmt.Errorf("qdrant: %d points of %d values, expected at least one of each", src.Len(), src.Width())
	}
	return nil
}

func (u *upload) note(format string, args ...any) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.o.Note != nil {
		u.o.Note(fmt.Sprintf(format, args...))
	}
}

// all reads the source and hands batches to the streams. The first error ends all of them.
func (u *upload) all(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan []Point)
	var running sync.WaitGroup
	for range streams {
		running.Go(func() {
			for b := range batches {
				if err := u.bring(ctx, b); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	err := u.read(ctx, batches)
	if err != nil {
		cancel(err)
	}
	close(batches)
	running.Wait()
	return context.Cause(ctx)
}

// read cuts the source's points into batches.
func (u *upload) read(ctx context.Context, batches chan<- []Point) error {
	every := max(u.src.Len()/sampleSize, 1)
	rows := 0
	for {
		points, err := u.src.Next()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for _, p := range points {
			if err := p.check(u.src.Width()); err != nil {
				return err
			}
			id := idOf(p.Path)
			if _, twice := u.seen[id]; twice {
				return fmt.Errorf("qdrant: %s: appears twice, expected once: its path identifies a point", p.Path)
			}
			u.seen[id] = struct{}{}
			if rows%every == every/2 {
				u.samples = append(u.samples, Point{p.Path, slices.Clone(p.Vector), p.Payload})
			}
			rows++
		}
		for b := range slices.Chunk(points, u.batch) {
			select {
			case batches <- b:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err != nil {
			break
		}
	}
	u.rows = rows
	if rows < 1 || rows > u.src.Len() {
		return fmt.Errorf("qdrant: the source gave %d points, expected 1 to %d", rows, u.src.Len())
	}
	return nil
}

// bring sends the points of a batch that the server does not have.
func (u *upload) bring(ctx context.Context, b []Point) error {
	what := fmt.Sprintf("collection %s: %d points from %s", u.o.Collection, len(b), b[0].Path)
	missing, err := u.missing(ctx, what, b)
	if err != nil {
		return err
	}
	late := false
	if len(missing) > 0 {
		request := &client.UpsertPoints{CollectionName: u.o.Collection, Wait: client.PtrOf(true)}
		for _, p := range missing {
			request.Points = append(request.Points, p.wire(u.o.Model))
		}
		err := u.try(ctx, what, pointsTime, func(ctx context.Context) error {
			answer, err := u.s.client.Upsert(ctx, request)
			if err != nil {
				return err
			}
			switch state := answer.GetStatus(); state {
			case client.UpdateStatus_Completed:
			case client.UpdateStatus_Acknowledged, client.UpdateStatus_WaitTimeout: // it is in the server's log
				late = true
			default:
				return fmt.Errorf("the server answered %s", state)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sent, u.kept, u.late = u.sent+len(missing), u.kept+len(b)-len(missing), u.late || late
	if u.o.Observe != nil {
		u.o.Observe(u.sent+u.kept, u.src.Len())
	}
	return nil
}

// missing returns the points of a batch that the server does not have, or has with other content.
func (u *upload) missing(ctx context.Context, what string, b []Point) ([]Point, error) {
	if u.c.empty {
		return b, nil
	}
	found, err := u.fetch(ctx, what, b, client.NewWithPayloadInclude(DigestField), false)
	if err != nil {
		return nil, err
	}
	var list []Point
	for _, p := range b {
		if there := found[ID(p.Path)]; there == nil || there.GetPayload()[DigestField].GetStringValue() != digest(p, u.o.Model) {
			list = append(list, p)
		}
	}
	return list, nil
}

// fetch reads points back, by id.
func (u *upload) fetch(ctx context.Context, what string, b []Point, fields *client.WithPayloadSelector, vectors bool) (map[string]*client.RetrievedPoint, error) {
	request := &client.GetPoints{CollectionName: u.o.Collection, WithPayload: fields, WithVectors: client.NewWithVectors(vectors)}
	for _, p := range b {
		request.Ids = append(request.Ids, client.NewIDUUID(ID(p.Path)))
	}
	found := map[string]*client.RetrievedPoint{}
	err := u.try(ctx, what, pointsTime, func(ctx context.Context) error {
		list, err := u.s.client.Get(ctx, request)
		for _, p := range list {
			found[p.GetId().GetUuid()] = p
		}
		return err
	})
	return found, err
}
