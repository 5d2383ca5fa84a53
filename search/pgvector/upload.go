package pgvector

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
)

// requestBytes bounds the size of a request with long vectors.
const requestBytes = 8 << 20

// upload is the state of one call of Upload.
type upload struct {
	s   *Server
	src Source
	o   Options

	empty      bool // the table held nothing at the start
	batch      int  // points per request
	rows       int  // points the source gave
	seen       map[[16]byte]struct{}
	samples    []Stored
	sent, kept int
}

// Upload writes the points of src into the table and checks that they have arrived.
func (s *Server) Upload(ctx context.Context, src Source, o Options) (Result, error) {
	if err := o.checkUpload(s, src); err != nil {
		return Result{}, err
	}
	s.tries.Notify(o.Note)
	u := &upload{s: s, src: src, o: o, seen: map[[16]byte]struct{}{}}
	u.batch = min(o.Batch, max(requestBytes/(4*src.Width()), 1))
	r := Result{Collection: s.Collection(), Dim: src.Width()}
	var err error
	if r.Server, err = s.Hello(ctx); err != nil {
		return r, err
	}
	if r.Created, u.empty, err = s.openTable(ctx, src.Width(), o); err != nil {
		return r, err
	}
	if err := u.sendAll(ctx); err != nil {
		return r, err
	}
	r.Rows, r.Sent, r.Kept = u.rows, u.sent, u.kept
	if o.Delete && !u.empty {
		if r.Deleted, err = u.pruneDeleted(ctx); err != nil {
			return r, err
		}
	}
	if r.Points, err = u.verifySample(ctx); err != nil {
		return r, err
	}
	r.Compared = len(u.samples)
	return r, s.buildIndex(ctx)
}

func (o Options) checkUpload(s *Server, src Source) error {
	switch {
	case s.Collection() == "":
		return errors.New("pgvector: the collection has no name, expected one")
	case o.Batch < 1:
		return fmt.Errorf("pgvector: %d points a request, expected at least 1", o.Batch)
	case src.Len() < 1 || src.Width() < 1:
		return fmt.Errorf("pgvector: %d points of %d values, expected at least one of each", src.Len(), src.Width())
	}
	return nil
}

// sendAll reads the source and sends its points in batches.
func (u *upload) sendAll(ctx context.Context) error {
	every := max(u.src.Len()/sampleSize, 1)
	for {
		points, err := u.src.Next()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for _, p := range points {
			if err := p.checkPoint(u.src.Width()); err != nil {
				return err
			}
			at := keyOf(p.Path)
			if _, twice := u.seen[at]; twice {
				return fmt.Errorf("pgvector: %s: appears twice, expected once: the path identifies a point", p.Path)
			}
			u.seen[at] = struct{}{}
			if u.rows%every == every/2 {
				u.samples = append(u.samples, Point{p.Path, slices.Clone(p.Vector), p.Payload}.storedPoint(u.o.Model))
			}
			u.rows++
		}
		for b := range slices.Chunk(points, u.batch) {
			if err := u.sendBatch(ctx, b); err != nil {
				return err
			}
		}
		if err != nil {
			break
		}
	}
	if u.rows < 1 || u.rows > u.src.Len() {
		return fmt.Errorf("pgvector: the source gave %d points, expected 1 to %d", u.rows, u.src.Len())
	}
	return nil
}

// keyOf identifies a path in little memory.
func keyOf(path string) [16]byte {
	sum := sha256.Sum256([]byte(path))
	return [16]byte(sum[:16])
}

// sendBatch sends the points of a batch that the server lacks.
func (u *upload) sendBatch(ctx context.Context, b []Point) error {
	missing, err := u.findMissing(ctx, b)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		if err := u.s.putPoints(ctx, missing); err != nil {
			return err
		}
	}
	u.sent, u.kept = u.sent+len(missing), u.kept+len(b)-len(missing)
	if u.o.Observe != nil {
		u.o.Observe(u.sent+u.kept, u.src.Len())
	}
	return nil
}

// findMissing returns the points of a batch that the server lacks or holds with other content.
func (u *upload) findMissing(ctx context.Context, b []Point) ([]Stored, error) {
	found, paths := map[string]string(nil), make([]string, len(b))
	if !u.empty {
		for i, p := range b {
			paths[i] = p.Path
		}
		var err error
		if found, err = u.s.readDigests(ctx, paths); err != nil {
			return nil, err
		}
	}
	var list []Stored
	for _, p := range b {
		if s := p.storedPoint(u.o.Model); found[p.Path] != s.Digest {
			list = append(list, s)
		}
	}
	return list, nil
}

// pruneDeleted deletes the points that the source did not give.
func (u *upload) pruneDeleted(ctx context.Context) (deleted int, err error) {
	for from := ""; ; {
		paths, next, err := u.s.listPaths(ctx, from)
		if err != nil {
			return deleted, err
		}
		gone := slices.DeleteFunc(paths, func(path string) bool { _, here := u.seen[keyOf(path)]; return here })
		for b := range slices.Chunk(gone, max(u.o.Batch, 1)) {
			if err := u.s.deleteRows(ctx, b); err != nil {
				return deleted, err
			}
			deleted += len(b)
		}
		if from = next; from == "" {
			return deleted, nil
		}
	}
}
