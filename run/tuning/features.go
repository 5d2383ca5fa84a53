package tuning

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/head"
	"winnow/internal/atomicfile"
	"winnow/internal/regular"
	"winnow/models"
	"winnow/run/extraction"
	"winnow/run/folder"
)

// buildCurrent returns the network with its present weights and statistics, cut to its feature.
func (t *Live) buildCurrent() (*graph.Model, error) {
	return graph.WithValues(t.model, t.net.Values())
}

// Now returns a set of images with the features that the network computes for them now: those stored as long as the
// network is unchanged.
func (t *Live) Now(ctx context.Context, set features.Set) (features.Set, error) {
	if t.isUntouched() {
		return set, nil
	}
	if p := t.onDevice(); p != nil {
		return t.extractSet(ctx, p, set)
	}
	m, err := t.buildCurrent()
	if err != nil {
		return set, err
	}
	return t.featuresBy(ctx, m, set)
}

// trained computes vectors with the network that is trained, where it lies. On a GPU a session for every validation
// would take a second or two to start: cuDNN plans each convolution again, and again for another number of images.
type trained struct {
	net    backbone.LiveNetwork
	batch  int
	images []float32 // of a whole batch
	x      blas32.General
}

// onDevice returns the network that is trained if it is on a device and computes as its file would; else nil.
func (t *Live) onDevice() *trained {
	if t.net.Place() == nil || t.frozen != nil || t.Cut.Batch > 0 || len(t.net.State()) > 0 {
		return nil
	}
	if t.validated == nil {
		t.validated = &trained{net: t.net, batch: t.Batch, x: features.NewMatrix(t.Batch, t.net.Dim())}
	}
	return t.validated
}

func (n *trained) Dim() int { return n.net.Dim() }

// Infer computes the vectors of at most a batch of images. A smaller batch is filled up.
func (n *trained) Infer(dst blas32.General, pixels []float32, images int) error {
	n.images = features.Grow(n.images, n.batch*n.net.Inputs()[0])
	copy(n.images, pixels)
	if err := n.net.Forward(n.x, [][]float32{n.images}, n.batch, false); err != nil {
		return err
	}
	for i := range images {
		copy(features.Row(dst, i), features.Row(n.x, i))
	}
	return nil
}

// isUntouched reports whether every trained number is still that of the file. Numbers of a Constant node count as
// changed, which costs computing features that are stored.
func (t *Live) isUntouched() bool {
	for name, values := range t.net.Values() {
		was := t.model.Graph.Initializer(name)
		if was == nil {
			return false
		}
		if first, err := was.Float32s(); err != nil || !slices.Equal(values, first) {
			return false
		}
	}
	return true
}

// Saved reads a network that was saved.
func (t *Live) Saved(file string) (Features, error) {
	data, err := regular.ReadFile(file, models.MaxFile)
	if err != nil {
		return nil, err
	}
	m, err := graph.Read(data)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, set features.Set) (features.Set, error) { return t.featuresBy(ctx, m, set) }, nil
}

// featuresBy returns set with the features that m, a state of the network, computes for its images, in the view of
// extraction. winnow extract would compute the same with m as a file.
func (t *Live) featuresBy(ctx context.Context, m *graph.Model, set features.Set) (features.Set, error) {
	p := t.Backbone.Preprocessing
	net, err := ort.NewNetworks(t.rt, m.Marshal(), t.Cut.Tensor, extraction.NetworkInput(t.Cut, p))
	if err != nil {
		return set, err
	}
	defer net.Close()
	return t.extractSet(ctx, net, set)
}

// extractSet returns set with the features that a network computes for its images, in the view of extraction.
func (t *Live) extractSet(ctx context.Context, net backbone.Network, set features.Set) (features.Set, error) {
	paths := t.pathsOf(set)
	into := &inMemory{x: features.NewMatrix(len(paths), net.Dim())}
	// all were readable when the run began
	cfg := backbone.ExtractConfig{Preprocessing: t.Backbone.Preprocessing, Batch: t.Batch, Strict: true}
	if err := backbone.Extract(ctx, cfg, net, t.Root, paths, into, nil); err != nil {
		return set, err
	}
	return features.Set{X: into.x, Labels: set.Labels, IDs: set.IDs}, nil
}

// pathsOf lists the files of a set of images.
func (t *Live) pathsOf(set features.Set) []string {
	paths := make([]string, set.Len())
	for i, id := range set.IDs {
		paths[i] = t.Paths[id]
	}
	return paths
}

// inMemory takes the rows of an extraction into memory.
type inMemory struct {
	x    blas32.General
	rows int
}

func (m *inMemory) Rows() int           { return m.rows }
func (m *inMemory) Bad() []features.Bad { return nil }
func (m *inMemory) Flush() error        { return nil }

func (m *inMemory) Append(x blas32.General, _ []features.Bad) error {
	for i := range x.Rows {
		copy(features.Row(m.x, m.rows+i), features.Row(x, i))
	}
	m.rows += x.Rows
	return nil
}

// Save writes a head and the network it belongs to. The head names the network by its sha256, so that files of two
// states are told apart.
func (t *Live) Save(dir, headFile string, h *head.Head, meta models.HeadMeta) error {
	m, err := t.buildCurrent()
	if err != nil {
		return err
	}
	data := t.describeOrigin(m, meta.Winnow).Marshal()
	file := filepath.Join(dir, folder.BackboneFile(headFile))
	if err := atomicfile.WriteBytes(file, data); err != nil {
		return fmt.Errorf("train: %s: %w", file, err)
	}
	meta.ModelSHA256, meta.Output = models.Sum(data), t.Cut.Tensor
	return models.WriteHead(filepath.Join(dir, headFile), h, meta)
}

// describeOrigin writes into a network's metadata where it comes from. It replaces the entries of an earlier run,
// because a key may occur once in an ONNX file.
func (t *Live) describeOrigin(m *graph.Model, winnow string) *graph.Model {
	about := *m
	ours := func(p graph.Property) bool { return strings.HasPrefix(p.Key, "winnow.") }
	about.Metadata = append(slices.DeleteFunc(slices.Clone(m.Metadata), ours),
		graph.Property{Key: "winnow.version", Value: winnow},
		graph.Property{Key: "winnow.finetuned_from", Value: t.Backbone.Name},
		graph.Property{Key: "winnow.finetuned_from_sha256", Value: t.Backbone.SHA256},
		graph.Property{Key: models.PreprocessingKey, Value: t.Backbone.Preprocessing.Key()},
	)
	return &about
}

// Matches reports whether a saved head belongs to the network saved with it.
func (t *Live) Matches(dir, headFile string) bool {
	_, meta, err := models.ReadHead(filepath.Join(dir, headFile))
	if err != nil {
		return false
	}
	sum, err := folder.FileSum(filepath.Join(dir, folder.BackboneFile(headFile)))
	return err == nil && sum == meta.ModelSHA256
}
