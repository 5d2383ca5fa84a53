// Package tuning trains a backbone together with its head: it selects the weights, loads the images, computes features
// during the training, and saves the network.
package tuning

import (
	"fmt"
	"io/fs"
	"slices"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/live"
	"winnow/backbone/ort"
	"winnow/internal/hint"
	"winnow/models"
	"winnow/models/architecture"
	"winnow/run/config"
)

// Config holds the network, the images and the settings of a fine-tuning.
type Config struct {
	Backbone *models.Backbone // the network before the training
	Cut      *models.Prepared // Backbone, cut to its feature
	Settings config.Finetune
	Augment  backbone.Augmentation

	Root     fs.FS
	RootName string   // the folder or .zip file that Root is
	Paths    []string // image paths of the whole manifest, by position
	Batch    int      // number of images in a run of the network that only computes features

	Note  func(format string, args ...any)                         // receives notes for the user
	Watch func(what string) (at func(done, total int), end func()) // shows the progress of long tasks; may be nil
}

// Live is a backbone that a run trains together with its head.
type Live struct {
	Config
	Drawn        bool                 // the network is untrained, by its metadata or its batch normalization
	weights      []string             // names of the trained initializers
	model        *graph.Model         // the backbone with its original weights
	frozen, live *graph.Model         // parts before and after the first trained weight; frozen may be nil
	derivative   *gradient.Derivative // derivative of live
	rt           *ort.Runtime
	net          *ort.Live
	peer         *ort.Live   // a second network, or nil
	second       live.Inputs // inputs of the second network
	prefix       *ort.Prefix
	validated    *trained // cached result of onDevice

	tried  bool             // chosen is set
	chosen gradient.Options // result of chooseKernels
}

// New returns the fine-tuning of a backbone. It makes all checks that are possible before a network runs.
func New(cfg Config) (*Live, error) {
	t := &Live{Config: cfg}
	if t.Cut.Folder != "" {
		return nil, fmt.Errorf("finetune: %s: found %d bytes, expected a network of at most 2 GiB", t.Backbone.Name,
			t.Backbone.Size)
	}
	m, err := graph.Read(t.Cut.Model)
	if err != nil {
		return nil, fmt.Errorf("finetune: %s: %w", t.Backbone.Name, err)
	}
	if graph.Half(m) {
		return nil, hint.With(fmt.Errorf("finetune: %s computes with numbers of 16 bits", t.Backbone.Name),
			"export it in float32, or train only a head on its features")
	}
	t.model = gradient.Plain(m)
	norm, fresh := normStatistics(t.model.Graph)
	t.Drawn = architecture.Drawn(m) || fresh
	if t.Settings.BatchNorm == config.AutoNorm {
		t.Settings.BatchNorm = config.FrozenNorm
		if t.Drawn && norm {
			t.Settings.BatchNorm = config.TrainNorm
			t.Note("batch normalization learns its statistics, because %s is untrained", t.Backbone.Name)
		}
	}
	switch n := t.Cut.Batch; {
	case n > 1:
		return nil, hint.With(fmt.Errorf("finetune: %s takes batches of exactly %d images", t.Backbone.Name, n),
			"export it with a free batch, or for one image")
	case n == 1 && norm && t.Settings.BatchNorm == config.TrainNorm:
		return nil, hint.With(fmt.Errorf("finetune: %s takes one image at a time, and batch normalization cannot "+
			"learn its statistics from such batches", t.Backbone.Name), "export it with a free batch, or freeze the "+
			"statistics: %s", config.Key("finetune.batch_norm=frozen"))
	case n == 1:
		t.Note("%s takes one image at a time: the gradients of a batch are added up", t.Backbone.Name)
	}
	return t, t.chooseWeights()
}

// normStatistics reports whether a network has batch normalization, and whether the running statistics still have their
// initial values. Initial values identify an untrained network whose metadata do not mark it.
func normStatistics(g *graph.Graph) (found, fresh bool) {
	for _, n := range g.Nodes {
		if !graph.IsONNX(n.Domain) || n.Op != "BatchNormalization" || len(n.Inputs) < 5 {
			continue
		}
		found = true
		for i, want := range map[int]float32{3: 0, 4: 1} {
			t := g.Initializer(n.Inputs[i])
			if t == nil {
				return true, false
			}
			values, err := t.Float32s()
			if err != nil || slices.ContainsFunc(values, func(v float32) bool { return v != want }) {
				return true, false
			}
		}
	}
	return found, found
}

// Use sets the runtime of the networks.
func (t *Live) Use(rt *ort.Runtime) { t.rt = rt }

// batchNorm returns the options for training batch normalization.
func (t *Live) batchNorm() gradient.BatchNorm {
	if t.Settings.BatchNorm == config.TrainNorm {
		return gradient.BatchNorm{Train: true, Momentum: t.Settings.Momentum}
	}
	return gradient.BatchNorm{}
}
