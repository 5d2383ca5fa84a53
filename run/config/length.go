package config

import "math"

// Length is how long a run trains: a span, or [AutoLength].
type Length struct {
	Span
	Auto bool // chosen by the number of images when the run begins, which records what was chosen: [Run.ResolveLength]
}

// AutoLength is a length that the run chooses.
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

// String returns the length as it stands in a file.
func (l Length) String() string {
	if l.Auto {
		return Auto
	}
	return l.Span.String()
}

// MarshalText writes a length.
func (l Length) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// What an automatic length is made of. A pretrained network is at its best after 2 to 4 epochs of 3,000 photographs, a drawn one
// after 20 and more.
const (
	mostEpochs  = 20
	leastEpochs = 2
	blindEpochs = 4       // of a pretrained network whose best state no validation finds
	mostImages  = 200_000 // seen, between the two

	imagesValidation = 10_000 // from one validation to the next, where an epoch has more
	imagesPatience   = 12_000 // seen without a new best before the run stops
	leastPatience    = 4      // validations
)

// ResolveBlindLength chooses the length, where it is automatic, of a pretrained network (drawn: it has learned nothing yet) that nothing
// validates while it learns from so many images: 4 epochs, after which such networks were near their best; later ones learn the training images by heart.
func (c *Run) ResolveBlindLength(drawn bool, images int) bool {
	if !c.Length.Auto || drawn {
		return false
	}
	c.Length = LastsEpochs(epochsOf(blindEpochs, float64(max(images, 1))))
	return true
}

// ResolveWithoutData puts the usual value where data, hardware or network would choose: 20 epochs, no augmentation, the losses and rates
// of a trained network, and its statistics. Rates that a test or an estimate finds stay open.
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

// epochsOf returns most epochs, or fewer where they would be more than 200,000 of so many images, but 2 at least.
func epochsOf(most, images float64) float64 {
	return min(most, max(leastEpochs, math.Round(mostImages/images)))
}

// ResolveLength chooses the length where it is automatic, for epochs of so many images: 20 epochs, or fewer where they would
// be more than 200,000 images, but 2 at least. Validation, where nothing else is said of it, then comes after each epoch
// or 10,000 images, and ends the run when none of 12,000 images, and of 4 validations, brought a new best. It reports whether there was
// anything to choose.
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
