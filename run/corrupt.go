package run

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/internal/lookup"
)

// Names of the noise models that need features.
const (
	SmallCluster = "small-cluster"
	HumanLike    = "human-like"
)

// NoiseModels returns the names of all noise models.
func NoiseModels() []string {
	return []string{"symmetric", "pair", "bspml", "cifar10", "cifar100", SmallCluster, HumanLike}
}

// Corrupt returns a copy of d with wrong labels in one split, which keeps the true labels. store is the folder of the
// images' feature store; Corrupt opens it only if the noise model needs features.
func Corrupt(ctx context.Context, d *datasets.Dataset, split string, spec NoiseSpec, store string,
	seed uint64) (*datasets.Dataset, error) {
	noise, err := NewNoise(ctx, spec, func() (blas32.General, error) {
		s, err := features.Open(store)
		if err != nil {
			return blas32.General{}, err
		}
		return VectorsIn(ctx, s, d, split)
	})
	if err != nil {
		return nil, err
	}
	return d.Corrupt(split, noise, NoiseRand(seed))
}

// NoiseSpec is the name of a noise model, with the settings of all models.
type NoiseSpec struct {
	Model   string
	Rate    float64
	Count   string // only for symmetric
	Own     bool   // only for symmetric
	OneShot bool   // only for small-cluster
	Similar int    // only for human-like
	Nearest bool   // only for human-like
}

// NewNoise builds a noise model. It calls vectors if the model needs the features of the labelled images.
func NewNoise(ctx context.Context, spec NoiseSpec, vectors func() (blas32.General, error)) (datasets.Noise, error) {
	if err := datasets.CheckRate(spec.Rate); err != nil {
		return nil, err
	}
	switch spec.Model {
	case SmallCluster, HumanLike:
		x, err := vectors()
		if err != nil {
			return nil, err
		}
		if spec.Model == SmallCluster {
			if err := features.Normalize(x); err != nil {
				return nil, err
			}
			// one start of k-means is enough: a noise model does not need the best clusters
			once := func(x blas32.General, k int, rng *rand.Rand) ([]int, error) {
				clusters, err := eval.KMeans(ctx, x, k, eval.KMeansOptions{Starts: 1, Seed: rng.Uint64()})
				return clusters.Of, err
			}
			return datasets.SmallCluster{Rate: spec.Rate, X: x, Cluster: once, OneShot: spec.OneShot}, nil
		}
		return datasets.HumanLike{Rate: spec.Rate, X: x, Similar: spec.Similar, Nearest: spec.Nearest}, nil
	case "symmetric":
		return datasets.Symmetric{Rate: spec.Rate, Count: spec.Count, Own: spec.Own}, nil
	default:
		return datasets.NewNoise(spec.Model, spec.Rate)
	}
}

// VectorsIn reads the features of the labelled images of a split.
func VectorsIn(ctx context.Context, store *features.Store, d *datasets.Dataset, split string) (x blas32.General,
	err error) {
	rows, _, left, err := lookup.Rows(d, store, d.Labelled(split), split+" ")
	if err != nil {
		return x, err
	}
	if len(left) > 0 {
		return x, fmt.Errorf("features %s: %d of the %s images could not be read, the first is %s (%s): expected "+
			"features of all labelled images", store.Dir, len(left), split, left[0].Path, left[0].Reason)
	}
	return store.Read(ctx, rows)
}

// NoiseRand returns the random source from which label noise is drawn for a seed.
func NoiseRand(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x6e6f697365)) // "noise"
}
