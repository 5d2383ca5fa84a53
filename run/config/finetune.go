package config

import (
	"fmt"
	"strings"

	"winnow/train"
)

// What a run trains of the backbone, beside the name of a stage and a pattern.
const (
	NoWeights  = "none" // a head on stored features
	AllWeights = "all"
)

// What happens to the statistics of batch normalization while the backbone is trained.
const (
	FrozenNorm = "frozen" // the stored running statistics normalise
	TrainNorm  = "train"  // those of the batch do (of a chunk, where there are several), and the running ones follow
	AutoNorm   = Auto     // train where the network is drawn and has learned nothing yet; else frozen
)

// NoAugmentation shows the network every image as extraction does.
const NoAugmentation = "none"

// AutoAugmentation mirrors coloured pictures (the recipe flip) where all of the network is trained, as nothing of it could be kept of
// a picture then, and else shows them as they are. What a run writes down is what was chosen.
const AutoAugmentation = Auto

// Which losses a run has.
const (
	GivenLoss = "given" // those under losses
	AutoLoss  = Auto    // those, or cross entropy where that is better: see [Run.ResolveLoss]; what a run writes down is what was chosen
)

// Finetune says how the backbone itself is trained.
type Finetune struct {
	Weights    string  `yaml:"weights"`     // none, all, a stage (trained from there on), or a pattern with * over names of weights and nodes
	BatchNorm  string  `yaml:"batch_norm"`  // frozen, train or auto
	Momentum   float64 `yaml:"momentum"`    // of the running statistics, with batch_norm: train: the share of the old that stays
	Start      Span    `yaml:"start"`       // the backbone rests so long, while the head warms up
	Refit      Span    `yaml:"refit"`       // so long after that the head begins again, whitened by a trained network as it is then; 0: never
	Chunk      int     `yaml:"chunk"`       // images a pass of the network; 0: the whole batch
	CacheLimit Bytes   `yaml:"cache_limit"` // most memory for the frozen prefix's activations, or for decoded pictures where these cannot be kept; 0: none
	Augment    string  `yaml:"augment"`     // none, auto, or a recipe of package backbone
	Loss       string  `yaml:"loss"`        // given, or auto, which may put cross entropy in the place of losses
}

func defaultFinetune() Finetune {
	return Finetune{Weights: NoWeights, BatchNorm: FrozenNorm, Momentum: 0.9, CacheLimit: 2 << 30, Augment: NoAugmentation, Loss: GivenLoss}
}

// The usual rates of a backbone: of one that has learned from other images, of one that has learned nothing, and of such a one
// that [Run.ResolveLoss] gives cross entropy.
const (
	tunedLR  = 1e-4
	drawnLR  = 1e-3
	closedLR = 3e-3
)

// manyImages of a class are enough to learn a drawn network's classes by: validation preferred cross entropy to contrastive loss for
// every draw of 50, 100 and 200 images a class of CIFAR-10, and not for all of 25.
const manyImages = 50

// ResolveLoss decides on the losses where that is left open, before [Run.ResolveUsualLR], and reports whether cross entropy takes their
// place: where the network is drawn, validation's classes are all among those it is trained on (closed), and these have 50 images each or
// more in the mean. Settings that belong to other losses keep them.
func (c *Run) ResolveLoss(drawn, closed bool, perClass int) bool {
	open := c.Finetune.Loss == AutoLoss
	c.Finetune.Loss = GivenLoss
	if !open || !drawn || !closed || perClass < manyImages || c.SelfPaced.On() || c.PaperVariant {
		return false
	}
	c.Losses = []Loss{{Name: "cross_entropy", Weight: 1, Against: AgainstBatch}}
	if c.BackboneSolver.LR.Choose == train.Usual {
		c.BackboneSolver.LR = train.GivenLR(closedLR)
	}
	return true
}

// ResolveUsualLR puts the backbone's usual rate where none is given; drawn says that its weights have learned nothing yet.
func (c *Run) ResolveUsualLR(drawn bool) {
	switch {
	case c.BackboneSolver.LR.Choose != train.Usual:
	case drawn:
		c.BackboneSolver.LR = train.GivenLR(drawnLR)
	default:
		c.BackboneSolver.LR = train.GivenLR(tunedLR)
	}
}

// On reports whether the backbone is trained at all.
func (f Finetune) On() bool { return f.Weights != NoWeights }

// check checks what can be known without the backbone.
func (f Finetune) check() error {
	switch {
	case f.Weights == "" || strings.ContainsAny(f.Weights, " \t\n"):
		return fmt.Errorf("finetune.weights: found %q, expected none, all, a stage or a pattern", f.Weights)
	case f.BatchNorm != FrozenNorm && f.BatchNorm != TrainNorm && f.BatchNorm != AutoNorm:
		return fmt.Errorf("finetune.batch_norm: found %q, expected %s, %s or %s", f.BatchNorm, FrozenNorm, TrainNorm, AutoNorm)
	case !(f.Momentum >= 0 && f.Momentum < 1):
		return fmt.Errorf("finetune.momentum: found %v, expected a share from 0 to below 1", f.Momentum)
	case f.Chunk < 0:
		return fmt.Errorf("finetune.chunk: found %d, expected a number of images, or 0 for the whole batch", f.Chunk)
	case f.Loss != GivenLoss && f.Loss != AutoLoss:
		return fmt.Errorf("finetune.loss: found %q, expected %s or %s (losses names them)", f.Loss, GivenLoss, AutoLoss)
	case f.Augment == "":
		return fmt.Errorf("finetune.augment: found \"\", expected none, auto or the name of a recipe")
	}
	return nil
}
