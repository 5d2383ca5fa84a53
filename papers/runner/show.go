package runner

import (
	"context"
	"fmt"
	"math"
	"slices"

	"winnow/eval"
	"winnow/eval/tsne"
	"winnow/features"
	"winnow/papers/studies"
	"winnow/run/folder"
)

// Measures of how well classes are separated.
const (
	meanSilhouette  = "silhouette"
	worstSilhouette = "worst silhouette" // the minimum of the classes' means
)

// mostPoints is the largest number of points of a map: more would hide each other.
const mostPoints = 2000

// needsSeparation reports whether a study measures or draws how well classes are separated.
func (r *reproduction) needsSeparation() bool {
	return slices.Contains(r.Study.Measures, meanSilhouette) || slices.Contains(r.Study.Measures, worstSilhouette) ||
		r.Study.Chart != nil && r.Study.Chart.Kind == studies.Maps
}

// measureSilhouettes measures the silhouettes of embedded test images and, if the study is a map, projects some of them
// to a plane.
func (r *reproduction) measureSilhouettes(
	ctx context.Context,
	o *studies.Outcome,
	z features.Set,
	classes []string,
) error {
	if !r.needsSeparation() {
		return nil
	}
	s, err := eval.NewSilhouettes(z, len(classes))
	if err != nil {
		return fmt.Errorf("reproduce: %w", err)
	}
	o.Measures[meanSilhouette], o.Measures[worstSilhouette] = s.Mean, s.ByClass[max(s.Worst, 0)]
	if r.Study.Chart == nil || r.Study.Chart.Kind != studies.Maps {
		return nil
	}
	z = z.Rows(folder.Draw(features.AllRows(z.Len()), mostPoints, o.Seed, "map"))
	at, _, err := tsne.Embed(ctx, z.X, tsne.Options{Seed: o.Seed, MaxMem: eval.DefaultMaxMem / 4})
	if err != nil {
		return err
	}
	p := &studies.Points{Class: slices.Clone(z.Labels[:z.Len()]), Classes: classes}
	for _, point := range at {
		p.X, p.Y = append(p.X, math.Round(100*point.X)/100), append(p.Y, math.Round(100*point.Y)/100)
	}
	o.Points = p
	return nil
}
