package config

import (
	"fmt"
	"strings"

	"winnow/internal/text"
	"winnow/train"
)

// Values of Finetune.Weights other than the name of a stage.
const (
	NoWeights  = "none" // train only a head, on stored features
	AllWeights = "all"
)

// Values of Finetune.BatchNorm: which statistics batch normalization uses.
const (
	FrozenNorm = "frozen" // the stored running statistics
	TrainNorm  = "train"  // the statistics of the batch, or of each chunk; they update the running statistics
	AutoNorm   = Auto     // train if the network is untrained, else frozen
)

// NoAugmentation is the augmentation that leaves every image as in extraction.
const NoAugmentation = "none"

// AutoAugmentation mirrors images at random (the recipe flip) if they are coloured and the whole network is trained.
// Otherwise it leaves them unchanged, so that the output of the frozen part can be cached. A run's files contain the
// recipe that was chosen.
const AutoAugmentation = Auto

// Values of Finetune.Loss.
const (
	GivenLoss = "given" // the losses of the configuration
	autoLoss  = Auto    // the losses of the configuration or cross entropy, see [Run.ResolveLoss]
)

// Finetune holds the settings for training the backbone.
type Finetune struct {
	Weights    string     `yaml:"weights"`     // none, all, or the first stage to train
	BatchNorm  string     `yaml:"batch_norm"`  // frozen, train or auto
	Momentum   float64    `yaml:"momentum"`    // share of the old running statistics to keep, with batch_norm train
	Start      Span       `yaml:"start"`       // span in which the backbone is frozen, while the head warms up
	Refit      Span       `yaml:"refit"`       // span after Start until the head is whitened anew; 0: never
	Chunk      int        `yaml:"chunk"`       // images in a pass of the network; 0: the whole batch
	CacheLimit text.Bytes `yaml:"cache_limit"` // memory for output of the frozen part, or for decoded images; 0: none
	Augment    string     `yaml:"augment"`     // none, auto, or a recipe of package backbone
	Loss       string     `yaml:"loss"`        // given, or auto, which may replace the losses by cross entropy
}

func defaultFinetune() Finetune {
	return Finetune{Weights: NoWeights, BatchNorm: FrozenNorm, Momentum: 0.9, CacheLimit: 2 << 30,
		Augment: NoAugmentation, Loss: GivenLoss}
}

// Default learning rates of a backbone: pretrained, untrained, and untrained with cross entropy by [Run.ResolveLoss].
const (
	tunedLR  = 1e-4
	drawnLR  = 1e-3
	closedLR = 3e-3
)

// manyImages is the number of images per class from which cross entropy trains an untrained network better than
// contrastive loss. On CIFAR-10, validation preferred cross entropy for all samples of 50, 100 and 200 images per
// class, but not for all samples of 25.
const manyImages = 50

// ResolveLoss chooses the losses if they are left open, and reports whether it chose cross entropy. It does so if the
// network is untrained (drawn), all classes of validation are in training (closed), classes have at least 50 images on
// average, and no other setting needs the default losses. Call it before [Run.ResolveUsualLR].
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

// ResolveUsualLR sets the backbone's default learning rate if none is given. drawn means that the network is untrained.
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

// checkFinetune checks the settings as far as possible without the backbone.
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
