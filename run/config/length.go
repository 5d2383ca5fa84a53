package config

import "math"

// Length is how long a run trains: a span, or [AutoLength].
type Length struct {
	Span
	Auto bool // to be chosen by the number of images ([Run.ResolveLength])
}

// AutoLength is a length to be chosen by the run.
var AutoLength = Length{Auto: true}

// LastsEpochs returns a length of n epochs.
func LastsEpochs(n float64) Length { return Length{Span: Epochs(n)} }

// LastsSteps returns a length of n steps.
func LastsSteps(n int) Length { return Length{Span: Steps(n)} }

// UnmarshalText parses a length.
func (l *Length) UnmarshalText(text []byte) error {
	if string(text) == Auto {
		*l = AutoLength
		return nil
	}
	l.Auto = false
	return l.Span.UnmarshalText(text)
}

// String returns the length as written in files.
func (l Length) String() string {
	if l.Auto {
		return Auto
	}
	return l.Span.String()
}

// MarshalText formats a length.
func (l Length) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Constants of the automatic length. With 3,000 photographs, a pretrained network is best after 2 to 4 epochs, an
// untrained network after 20 or more.
const (
	mostEpochs  = 20
	leastEpochs = 2
	blindEpochs = 4       // epochs of a pretrained network without validation
	mostImages  = 200_000 // images seen in all epochs; the number of epochs stays between its limits

	imagesValidation = 10_000 // images between two validations, if an epoch has more
	imagesPatience   = 12_000 // images seen without a new best before the run stops
	leastPatience    = 4      // validations without a new best before the run stops
)

// ResolveBlindLength chooses the automatic length for a pretrained network (not drawn) without validation, by the
// number of training images: at most 4 epochs, after which such networks were near their best; later epochs overfit. It
// reports whether it chose a length.
func (c *Run) ResolveBlindLength(drawn bool, images int) bool {
	if !c.Length.Auto || drawn {
		return false
	}
	c.Length = LastsEpochs(epochsOf(blindEpochs, float64(max(images, 1))))
	return true
}

// ResolveWithoutData sets the choices that depend on data, hardware or network to defaults: 20 epochs, no augmentation,
// and losses, rates and statistics of a pretrained network. Rates to be found by a test or an estimate stay open.
func (c *Run) ResolveWithoutData() {
	if c.Length.Auto {
		c.Length = Default().Length
	}
	if c.Finetune.Augment == AutoAugmentation {
		c.Finetune.Augment = NoAugmentation
	}
	if c.Finetune.BatchNorm == AutoNorm {
		c.Finetune.BatchNorm = FrozenNorm
	}
	c.ResolveLoss(false, false, 0)
	c.ResolveUsualLR(false)
}

// epochsOf returns the number of epochs for a number of images: most, or fewer to see at most 200,000 images in all,
// but at least 2.
func epochsOf(most, images float64) float64 {
	return min(most, max(leastEpochs, math.Round(mostImages/images)))
}

// ResolveLength chooses the automatic length by the number of images in an epoch: 20 epochs, or fewer to see at most
// 200,000 images in all, but at least 2. By default, the run then validates after each epoch or 10,000 images, and
// stops after 12,000 images and 4 validations without a new best. ResolveLength reports whether it chose a length.
func (c *Run) ResolveLength(images int) bool {
	if !c.Length.Auto {
		return false
	}
	n := float64(max(images, 1))
	c.Length = LastsEpochs(epochsOf(mostEpochs, n))
	if c.Validation.Every == Epochs(1) {
		c.Validation.Every = Epochs(1 / math.Ceil(n/imagesValidation))
	}
	if c.Validation.Patience == 0 && !c.HasPeers() {
		between := n
		if every := c.Validation.Every; every.Epochs {
			between *= every.N
		}
		c.Validation.Patience = max(leastPatience, int(math.Ceil(imagesPatience/between)))
	}
	return true
}
