package config

import "math"

// Length is how long a run trains: a span, or [AutoLength].
type Length struct {
	Span
	Auto bool // chosen by the number of images ([Run.ResolveLength]); a run's files have the choice
}

// AutoLength is the length that the run chooses.
var AutoLength = Length{Auto: true}

// LastsEpochs returns a length of n epochs.
func LastsEpochs(n float64) Length { return Length{Span: Epochs(n)} }

// LastsSteps returns a length of n steps.
func LastsSteps(n int) Length { return Length{Span: Steps(n)} }

// UnmarshalText reads a length.
func (l *Length) UnmarshalText(text []byte) error {
	if string(text) == Auto {
		*l = AutoLength
		return nil
	}
	l.Auto = false
	return l.Span.UnmarshalText(text)
}

// String returns the length as files have it.
func (l Length) String() string {
	if l.Auto {
		return Auto
	}
	return l.Span.String()
}

// MarshalText writes a length.
func (l Length) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Constants of the automatic length. A pretrained network is best after 2 to 4 epochs of 3,000 photographs, a drawn one
// after 20 or more.
const (
	mostEpochs  = 20
	leastEpochs = 2
	blindEpochs = 4       // of a pretrained network without validation
	mostImages  = 200_000 // seen, between the two

	imagesValidation = 10_000 // between two validations, if an epoch has more
	imagesPatience   = 12_000 // seen without a new best before the run stops
	leastPatience    = 4      // validations
)

// ResolveBlindLength chooses the automatic length of a pretrained network (not drawn) that learns from that many images
// without validation: 4 epochs, after which such networks were near their best; later epochs learn the training images
// by heart. It reports whether there was anything to choose.
func (c *Run) ResolveBlindLength(drawn bool, images int) bool {
	if !c.Length.Auto || drawn {
		return false
	}
	c.Length = LastsEpochs(epochsOf(blindEpochs, float64(max(images, 1))))
	return true
}

// ResolveWithoutData sets defaults where data, hardware or network would choose: 20 epochs, no augmentation, and
// losses, rates and statistics of a pretrained network. Rates that a test or an estimate finds stay open.
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

// epochsOf returns most epochs, or fewer to stay within 200,000 images in all, but at least 2.
func epochsOf(most, images float64) float64 {
	return min(most, max(leastEpochs, math.Round(mostImages/images)))
}

// ResolveLength chooses the automatic length, for epochs of that many images: 20 epochs, or fewer to stay within
// 200,000 images, but at least 2. By default, validation then comes after each epoch or 10,000 images, and ends the run
// after 12,000 images and 4 validations without a new best. It reports whether there was anything to choose.
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
