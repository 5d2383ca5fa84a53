// Package tuning trains a backbone together with the head on it: which of its weights move, what images it sees, how
// its state is asked for features while it trains, and how it is saved.
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
	"winnow/models"
	"winnow/models/architecture"
	"winnow/run/config"
)

// Config is what is trained, and on which images.
type Config struct {
	Backbone *models.Backbone // as it was
	Cut      *models.Prepared // to its feature
	Settings config.Finetune
	Augment  backbone.Augmentation

	Root     fs.FS
	RootName string   // the folder or .zip file that Root is
	Paths    []string // of the whole manifest, by position
	Batch    int      // images a run of the network where it is only asked, not trained

	Note  func(format string, args ...any)                         // takes a fact for the user
	Watch func(what string) (at func(done, total int), end func()) // shows what takes long
}

// Live is a backbone that a run trains together with its head: what it was, which of its weights move, and the
// images it sees.
type Live struct {
	Config
	Drawn        bool                 // the network has learned nothing yet: it says so, or its batch normalization does
	weights      []string             // initializers that are trained
	model        *graph.Model         // the backbone, read: the weights' first values
	frozen, live *graph.Model         // before and behind where training begins; frozen is nil where all is trained
	derivative   *gradient.Derivative // of live
	rt           *ort.Runtime
	net          *ort.Live
	peer         *ort.Live   // a second network; nil: there is none
	second       live.Inputs // of the second network
	prefix       *ort.Prefix
	views        *Views // nil before they are compared
}

// New finds everything about a backbone's training that can be wrong before a network runs.
func New(cfg Config) (*Live, error) {
	t := &Live{Config: cfg}
	if t.Cut.Batch > 0 {
		return nil, fmt.Errorf("finetune: %s takes batches of exactly %d images, expected a network whose batch is free", t.Backbone.Name, t.Cut.Batch)
	}
	m, err := graph.Read(t.Cut.Model)
	if err != nil {
		return nil, fmt.Errorf("finetune: %s: %w", t.Backbone.Name, err)
	}
	t.model = gradient.Untie(m)
	norm, fresh := normStatistics(t.model.Graph)
	t.Drawn = architecture.Drawn(m) || fresh
	if t.Settings.BatchNorm == config.AutoNorm {
		t.Settings.BatchNorm = config.FrozenNorm
		if t.Drawn && norm {
			t.Settings.BatchNorm = config.TrainNorm
			t.Note("batch normalization learns its statistics: those of %s are as they were drawn", t.Backbone.Name)
		}
	}
	return t, t.choose()
}

// normStatistics reports whether a network has batch normalization, and whether nothing has moved its running statistics yet. That tells
// a drawn network that came from elsewhere and does not say that it is one.
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

// Use gives it the runtime that its networks run on.
func (t *Live) Use(rt *ort.Runtime) { t.rt = rt }

// batchNorm returns what happens to batch normalization.
func (t *Live) batchNorm() gradient.BatchNorm {
	if t.Settings.BatchNorm == config.TrainNorm {
		return gradient.BatchNorm{Train: true, Momentum: t.Settings.Momentum}
	}
	return gradient.BatchNorm{}
}
