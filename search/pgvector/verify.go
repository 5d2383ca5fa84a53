package pgvector

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
)

// sampleSize is how many points, spread over the whole, are read back.
const sampleSize = 100

// answerBytes bounds an answer with vectors.
const answerBytes = 2 << 20

// verifySample counts the points and compares a sample of them with what was sent.
func (u *upload) verifySample(ctx context.Context) (points int, err error) {
	if points, err = u.countPoints(ctx); err == nil {
		err = u.compareSample(ctx)
	}
	if err == nil && points > u.rows {
		u.s.tries.Note("collection %s holds %d points that are not in this export: removed images, or another "+
			"export; --delete deletes them", u.s.Collection(), points-u.rows)
	}
	return points, err
}

// countPoints returns the exact number of points in the collection. Fewer than expected are an error.
func (u *upload) countPoints(ctx context.Context) (int, error) {
	n, err := u.s.Count(ctx)
	if err == nil && n < u.rows {
		err = fmt.Errorf("%s: found %d points at the end, expected %d", u.s, n, u.rows)
	}
	return n, err
}

// compareSample reads the sample back.
func (u *upload) compareSample(ctx context.Context) error {
	size := max(answerBytes/(4*u.src.Width()), 1)
	for b := range slices.Chunk(u.samples, size) {
		paths := make([]string, len(b))
		for i, p := range b {
			paths[i] = p.Path
		}
		found, err := u.s.Fetch(ctx, paths)
		if err != nil {
			return err
		}
		for _, p := range b {
			why := "found none"
			if got, there := found[p.Path]; there {
				why = u.diffStored(p, got)
			}
			if why != "" {
				return fmt.Errorf("%s: point %s read back: %s", u.s, p.Path, why)
			}
		}
	}
	return nil
}

// diffStored says how a stored point differs from the one sent, or returns "".
func (u *upload) diffStored(p, got Stored) string {
	want, have := p.storedFields(), got.storedFields()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if have[name] != want[name] {
			return fmt.Sprintf("found %s %q, expected %q", name, have[name], want[name])
		}
	}
	if len(got.Vector) != len(p.Vector) {
		return fmt.Sprintf("found %d values, expected %d", len(got.Vector), len(p.Vector))
	}
	for i, v := range got.Vector {
		if math.Float32bits(v) != math.Float32bits(p.Vector[i]) {
			return fmt.Sprintf("value %d of its vector is %v, expected %v", i, v, p.Vector[i])
		}
	}
	return ""
}
