package qdrant

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	client "github.com/qdrant/go-client/qdrant"
)

// sampleSize is how many points, spread over the whole, are read back.
const sampleSize = 100

// answerBytes bounds an answer with vectors: gRPC takes 4 MiB.
const answerBytes = 2 << 20

// latePauses is how often the count is repeated if the server deferred storing points.
const latePauses = 6

// verify counts the points and compares a sample of them with what was sent.
func (u *upload) verify(ctx context.Context) (points int, err error) {
	for pause := 0; ; pause++ {
		if points, err = u.count(ctx); err == nil {
			err = u.compare(ctx)
		}
		if err == nil || !u.late || pause == latePauses {
			break
		}
		if err := u.s.wait.sleep(ctx, time.Second<<pause); err != nil {
			return points, err
		}
	}
	if err == nil && points > u.rows {
		u.note("collection %s holds %d points that are not of this export: images no longer in it, or of another export; --recreate replaces it", u.o.Collection, points-u.rows)
	}
	return points, err
}

// count returns the exact number of points in the collection; fewer than there must be are an error.
func (u *upload) count(ctx context.Context) (int, error) {
	var n uint64
	err := u.try(ctx, "counting the points of collection "+u.o.Collection, collectionTime, func(ctx context.Context) (err error) {
		n, err = u.s.client.Count(ctx, &client.CountPoints{CollectionName: u.o.Collection, Exact: client.PtrOf(true)})
		return err
	})
	if err != nil {
		return 0, err
	}
	if n < uint64(u.rows) {
		return int(n), fmt.Errorf("qdrant: %s: collection %s: found %d points at the end, expected %d", u.s.address, u.o.Collection, n, u.rows)
	}
	return int(n), nil
}

// compare reads the sample back.
func (u *upload) compare(ctx context.Context) error {
	size := max(answerBytes/(4*u.src.Width()), 1)
	for b := range slices.Chunk(u.samples, size) {
		what := fmt.Sprintf("collection %s: reading %d points back", u.o.Collection, len(b))
		found, err := u.fetch(ctx, what, b, client.NewWithPayload(true), true)
		if err != nil {
			return err
		}
		for _, p := range b {
			if why := u.differs(p, found[ID(p.Path)]); why != "" {
				return fmt.Errorf("qdrant: %s: collection %s: point %s (%s) read back: %s", u.s.address, u.o.Collection, ID(p.Path), p.Path, why)
			}
		}
	}
	return nil
}

// differs returns how a stored point differs from the one that was sent, or "".
func (u *upload) differs(p Point, got *client.RetrievedPoint) string {
	if got == nil {
		return "found none"
	}
	for name, want := range p.payload(u.o.Model) {
		if found := got.GetPayload()[name]; found.GetStringValue() != want.GetStringValue() {
			return fmt.Sprintf("found %s %q, expected %q", name, found.GetStringValue(), want.GetStringValue())
		}
	}
	v := got.GetVectors().GetVector().GetDenseVector().GetData()
	if len(v) != len(p.Vector) {
		return fmt.Sprintf("found %d values, expected %d", len(v), len(p.Vector))
	}
	largest, a, b := 0.0, length(v), length(p.Vector)
	for i := range v {
		largest = max(largest, math.Abs(float64(v[i])/a-float64(p.Vector[i])/b))
	}
	if !(largest <= u.c.limit) {
		return fmt.Sprintf("its vector differs by %.3g, expected at most %.0g", largest, u.c.limit)
	}
	return ""
}

func length(x []float32) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}
