package vectordb

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// requestBytes bounds the size of a request with long vectors.
const requestBytes = 8 << 20

// upload is the state of one call of Upload.
type upload struct {
	s   Store
	src Source
	o   Options
	c   Opened

	batch   int // points per request
	rows    int // points the source gave
	seen    map[[16]byte]struct{}
	samples []Stored

	mu         sync.Mutex // of the fields below, which the streams write, and of Observe
	sent, kept int
	late       bool // the server accepted points before it stored them
}

// Upload writes the points of src into a collection and checks that they have arrived.
func Upload(ctx context.Context, s Store, src Source, o Options) (Result, error) {
	if err := o.check(s, src); err != nil {
		return Result{}, err
	}
	s.Tries().Notify(o.Note)
	u := &upload{s: s, src: src, o: o, seen: map[[16]byte]struct{}{}}
	u.batch = min(o.Batch, max(requestBytes/(4*src.Width()), 1))
	r := Result{Collection: s.Collection(), Dim: src.Width()}
	var err error
	if r.Server, err = s.Hello(ctx); err != nil {
		return r, err
	}
	if u.c, err = s.Open(ctx, src.Width(), o); err != nil {
		return r, err
	}
	r.Created = u.c.Created
	if err := u.all(ctx); err != nil {
		return r, err
	}
	r.Rows, r.Sent, r.Kept = u.rows, u.sent, u.kept
	if o.Delete && !u.c.Empty {
		if r.Deleted, err = u.prune(ctx); err != nil {
			return r, err
		}
	}
	if r.Points, err = u.verify(ctx); err != nil {
		return r, err
	}
	r.Compared = len(u.samples)
	return r, s.Finish(ctx)
}

func (o Options) check(s Store, src Source) error {
	switch {
	case s.Collection() == "":
		return errors.New("vectordb: the collection has no name, expected one")
	case o.Batch < 1:
		return fmt.Errorf("vectordb: %d points a request, expected at least 1", o.Batch)
	case src.Len() < 1 || src.Width() < 1:
		return fmt.Errorf("vectordb: %d points of %d values, expected at least one of each", src.Len(), src.Width())
	}
	return nil
}

// all reads the source and passes batches to the streams. The first error stops all of them.
func (u *upload) all(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan []Point)
	var running sync.WaitGroup
	for range u.s.Streams() {
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

// read splits the source's points into batches.
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
			at := keyOf(p.Path)
			if _, twice := u.seen[at]; twice {
				return fmt.Errorf("vectordb: %s: appears twice, expected once: the path identifies a point", p.Path)
			}
			u.seen[at] = struct{}{}
			if rows%every == every/2 {
				u.samples = append(u.samples, Point{p.Path, slices.Clone(p.Vector), p.Payload}.stored(u.o.Model))
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
		return fmt.Errorf("vectordb: the source gave %d points, expected 1 to %d", rows, u.src.Len())
	}
	return nil
}

// keyOf identifies a path in little memory.
func keyOf(path string) [16]byte {
	sum := sha256.Sum256([]byte(path))
	return [16]byte(sum[:16])
}

// bring sends the points of a batch that the server lacks.
func (u *upload) bring(ctx context.Context, b []Point) error {
	missing, err := u.missing(ctx, b)
	if err != nil {
		return err
	}
	late := false
	if len(missing) > 0 {
		if late, err = u.s.Put(ctx, missing); err != nil {
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

// missing returns the points of a batch that the server lacks or holds with other content.
func (u *upload) missing(ctx context.Context, b []Point) ([]Stored, error) {
	found, paths := map[string]string(nil), make([]string, len(b))
	if !u.c.Empty {
		for i, p := range b {
			paths[i] = p.Path
		}
		var err error
		if found, err = u.s.Digests(ctx, paths); err != nil {
			return nil, err
		}
	}
	var list []Stored
	for _, p := range b {
		if s := p.stored(u.o.Model); found[p.Path] != s.Digest {
			list = append(list, s)
		}
	}
	return list, nil
}

// prune deletes the points that the source did not give.
func (u *upload) prune(ctx context.Context) (deleted int, err error) {
	for from := ""; ; {
		paths, next, err := u.s.Paths(ctx, from)
		if err != nil {
			return deleted, err
		}
		gone := slices.DeleteFunc(paths, func(path string) bool { _, here := u.seen[keyOf(path)]; return here })
		for b := range slices.Chunk(gone, max(u.o.Batch, 1)) {
			if err := u.s.Delete(ctx, b); err != nil {
				return deleted, err
			}
			deleted += len(b)
		}
		if from = next; from == "" {
			return deleted, nil
		}
	}
}
