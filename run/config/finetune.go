package config

import (
	"fmt"
	"strings"

	"winnow/internal/text"
	"winnow/train"
)

// Values of Finetune.Weights, besides the name of a stage.
const (
	NoWeights  = "none" // a head on stored features
	AllWeights = "all"
)

// Values of Finetune.BatchNorm: which statistics batch normalization uses.
const (
	FrozenNorm = "frozen" // the stored running statistics
	TrainNorm  = "train"  // those of the batch, or of each chunk; the running ones follow
	AutoNorm   = Auto     // train if the network is drawn and has learned nothing yet; else frozen
)

// NoAugmentation gives the network every image as extraction does.
const NoAugmentation = "none"

// AutoAugmentation mirrors coloured pictures (the recipe flip) if the whole network is trained, because then no part of
// its output could be cached, and else changes nothing. A run's files have the choice.
const AutoAugmentation = Auto

// Values of Finetune.Loss.
const (
	GivenLoss = "given" // the losses of the configuration
	autoLoss  = Auto    // those, or cross entropy if it is better: see [Run.ResolveLoss]. A run's files have the choice
)

// Finetune says how the backbone is trained.
type Finetune struct {
	Weights    string     `yaml:"weights"`     // none, all, or the first stage
	BatchNorm  string     `yaml:"batch_norm"`  // frozen, train or auto
	Momentum   float64    `yaml:"momentum"`    // share of the old running statistics that stays, with batch_norm train
	Start      Span       `yaml:"start"`       // until then the backbone rests, while the head warms up
	Refit      Span       `yaml:"refit"`       // after Start, when the head starts again by whitening; 0: never
	Chunk      int        `yaml:"chunk"`       // images in a pass of the network; 0: the whole batch
	CacheLimit text.Bytes `yaml:"cache_limit"` // memory for output of the frozen part, or for decoded pictures; 0: none
	Augment    string     `yaml:"augment"`     // none, auto, or a recipe of package backbone
	Loss       string     `yaml:"loss"`        // given, or auto, which may replace the losses by cross entropy
}

func defaultFinetune() Finetune {
	return Finetune{Weights: NoWeights, BatchNorm: FrozenNorm, Momentum: 0.9, CacheLimit: 2 << 30,
		Augment: NoAugmentation, Loss: GivenLoss}
}

// Default learning rates of a backbone: pretrained, drawn, and drawn with cross entropy by [Run.ResolveLoss].
const (
	tunedLR  = 1e-4
	drawnLR  = 1e-3
	closedLR = 3e-3
)

// manyImages per class are enough for cross entropy to train a drawn network: validation preferred it to contrastive
// loss for every draw of 50, 100 and 200 images per class of CIFAR-10, but not for all of 25.
const manyImages = 50

// ResolveLoss chooses the losses if they are left open, and reports whether it chose cross entropy: if the network is
// drawn, if all validation classes are trained (closed), and if classes have at least 50 images on average. Settings
// that need other losses keep them. Call it before [Run.ResolveUsualLR].
func (c *Run) ResolveLoss(drawn, closed bool, perClass int) bool {
	open := c.Finetune.Loss == autoLoss
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

// ResolveUsualLR sets the backbone's default rate if none is given; drawn says that the network has learned nothing
// yet.
func (c *Run) ResolveUsualLR(drawn bool) {
	switch {
	case c.BackboneSolver.LR.Choose != train.Usual:
	case drawn:
		c.BackboneSolver.LR = train.GivenLR(drawnLR)
	default:
		c.BackboneSolver.LR = train.GivenLR(tunedLR)
	}
}

// On reports whether the backbone is trained.
func (f Finetune) On() bool { return f.Weights != NoWeights }

// checkFinetune checks everything that does not need the backbone.
func (f Finetune) checkFinetune() error {
	switch {
	case f.Weights == "" || strings.ContainsAny(f.Weights, " \t\n"):
		return fmt.Errorf("finetune.weights: found %q, expected none, all or a stage", f.Weights)
	case f.BatchNorm != FrozenNorm && f.BatchNorm != TrainNorm && f.BatchNorm != AutoNorm:
		return fmt.Errorf("finetune.batch_norm: found %q, expected %s, %s or %s", f.BatchNorm, FrozenNorm, TrainNorm,
			AutoNorm)
	case !(f.Momentum >= 0 && f.Momentum < 1):
		return fmt.Errorf("finetune.momentum: found %v, expected a share from 0 to below 1", f.Momentum)
	case f.Chunk < 0:
		return fmt.Errorf("finetune.chunk: found %d, expected a number of images, or 0 for the whole batch", f.Chunk)
	case f.Loss != GivenLoss && f.Loss != autoLoss:
		return fmt.Errorf("finetune.loss: found %q, expected %s or %s (losses names them)", f.Loss, GivenLoss, autoLoss)
	case f.Augment == "":
		return fmt.Errorf("finetune.augment: found \"\", expected none, auto or the name of a recipe")
	}
	return nil
}
