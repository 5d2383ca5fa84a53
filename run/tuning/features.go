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

// buildCurrent returns the network, cut to its feature, with its current weights and statistics.
func (t *Live) buildCurrent() (*graph.Model, error) {
	return graph.WithValues(t.model, t.net.Values())
}

// Now returns a set of images with their features by the network in its current state. While the network is unchanged,
// these are the stored features.
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

// trained computes vectors with the network in training, on its device. A new session for every validation would take a
// second or two to start on a GPU, because cuDNN plans each convolution again for each session and batch size.
type trained struct {
	net    backbone.LiveNetwork
	batch  int
	images []float32 // pixels of a whole batch
	x      blas32.General
}

// onDevice returns the network in training if it is on a device and computes the same as its file would; else nil.
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

// Infer computes the vectors of at most a batch of images. It pads a smaller batch.
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

// isUntouched reports whether every trained value equals the value in the file. It returns false for values of Constant
// nodes; stored features are then computed again.
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

// Saved reads a saved network and returns a function that computes features with it.
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

// featuresBy returns set with its features by m, a state of the network, as winnow extract would compute them.
func (t *Live) featuresBy(ctx context.Context, m *graph.Model, set features.Set) (features.Set, error) {
	p := t.Backbone.Preprocessing
	net, err := ort.NewNetworks(t.rt, m.Marshal(), t.Cut.Tensor, extraction.NetworkInput(t.Cut, p))
	if err != nil {
		return set, err
	}
	defer net.Close()
	return t.extractSet(ctx, net, set)
}

// extractSet returns set with its features by a network, with images prepared as in extraction.
func (t *Live) extractSet(ctx context.Context, net backbone.Network, set features.Set) (features.Set, error) {
	paths := t.pathsOf(set)
	into := &inMemory{x: features.NewMatrix(len(paths), net.Dim())}
	// strict, because all images were readable when the run started
	cfg := backbone.ExtractConfig{Preprocessing: t.Backbone.Preprocessing, Batch: t.Batch, Strict: true}
	if err := backbone.Extract(ctx, cfg, net, t.Root, paths, into, nil); err != nil {
		return set, err
	}
	return features.Set{X: into.x, Labels: set.Labels, IDs: set.IDs}, nil
}

// pathsOf returns the paths of a set of images.
func (t *Live) pathsOf(set features.Set) []string {
	paths := make([]string, set.Len())
	for i, id := range set.IDs {
		paths[i] = t.Paths[id]
	}
	return paths
}

// inMemory is a writer that keeps the rows of an extraction in memory.
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

// Save writes a head and its network. The head contains the network's SHA-256, to detect files of different states.
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

// describeOrigin adds the origin of a network to its metadata. It replaces the entries of an earlier run, because a key
// may occur only once in an ONNX file.
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
