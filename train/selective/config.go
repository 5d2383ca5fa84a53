// Package selective contains two baselines, Sel-CL and TCL. At the start of every epoch they decide which given
// labels to trust. From the other images they learn without labels. They work on frozen features or, with a
// [Live] backbone, on images.
//
// With stored features their names include "on frozen features", because this differs from the published systems. The
// published systems train a network on images: the views of an image are two random crops, images are mixed, and the
// running average covers the whole network. With stored features only a head learns. A view of an image is its stored
// feature with noise and dropout ([View]), since no second crop is stored. Features are mixed instead of images, and
// the running average covers the head. A live backbone receives images: views are augmented, images are mixed, and the
// average covers everything that learns. Decisions about labels are computed as published ([selclDetector],
// [tclDetector]) from unit rows and their cosines. A negative label marks an unlabelled row. Such a row is neither
// scored nor selected, but it has neighbours and a pseudo label, and it contributes to the centres.
//
//	x → head → u (n×D, unit rows: the embedding that is kept) → logits l = 4·u·Wᵀ + b (n×C)
//
// The head replaces the published projection, and its rows are the input of the classifier. Neither has batch
// normalization. The factor 4 keeps the published learning rates stable at any scale of the head's output.
//
// The trainer (package train) sees a method as one Encoder, whose rows are all views of an image side by side, and
// a loss on these rows. The package therefore uses the trainer's samplers, solvers, schedules, checkpoints and
// metrics. The encoder's state includes the state at the start of the epoch and the queues, so that a resumed run
// repeats an uninterrupted run bit for bit.
//
// Vectors and products are float32; softmax, losses and choices are float64. The package never sees true
// labels. It may import train, features, head and eval (for the nearest neighbours).
package selective

import (
	"fmt"

	"winnow/internal/catalog"
)

// Methods.
const (
	SelCL = "sel-cl"
	TCL   = "tcl"
)

// Methods lists the methods.
func Methods() []string { return []string{SelCL, TCL} }

// Title returns the full name of a method.
func Title(method string) string {
	return map[string]string{SelCL: "Sel-CL on frozen features", TCL: "TCL on frozen features"}[method]
}

// Config describes a method and its settings. Lengths are in epochs; Epoch is filled in when it is known.
type Config struct {
	Method      string  `yaml:"method"`
	Temperature float64 `yaml:"temperature"` // of the contrastive losses, and of TCL's assignments
	// WarmUp is the number of epochs during which sel-cl learns without labels, or during which tcl trusts all
	// given labels.
	WarmUp int `yaml:"warm_up"`
	// Mixup is the parameter a of the distribution Beta(a, a) of the shares of a mixture; 0: no mixing.
	Mixup float64 `yaml:"mixup"`
	View  View    `yaml:"view"`

	// K, for sel-cl, is the number of voting neighbours; 0: 250, or half the mean class size if that is less.
	K int `yaml:"k"`
	// Alpha sets how many rows of each class sel-cl selects: the Alpha-quantile, over classes, of the number of
	// rows whose neighbours agree with their label.
	Alpha float64 `yaml:"alpha"`
	// Beta sets how similar other pairs must be for sel-cl: the Beta-quantile of the selected pairs' similarities.
	Beta      float64 `yaml:"beta"`
	Average   float64 `yaml:"average"`   // sel-cl: share of the running average that a step keeps
	Negatives int     `yaml:"negatives"` // sel-cl: length of the queue for contrast without labels
	// Queue is the length of sel-cl's queue for contrast with labels, in rows of each view per class. The queue is
	// limited to the size of the training set.
	Queue      int     `yaml:"queue"`
	QueueStart int     `yaml:"queue_start"`       // sel-cl: epochs before the losses use the queue with labels
	Classify   float64 `yaml:"class_weight"`      // sel-cl: weight of the cross entropy of selected rows
	Similarity float64 `yaml:"similarity_weight"` // sel-cl: weight of the loss of predicted similarities

	// SecondStage is the epoch from which sel-cl learns only from selected rows, by cross entropy (Sel-CL+).
	// 0 means never.
	SecondStage int `yaml:"second_stage"`
	// Bootstrap is the share of the network's own prediction in the targets of sel-cl's second stage.
	Bootstrap float64 `yaml:"bootstrap"`

	PerClass bool `yaml:"per_class"` // tcl: fit one mixture per class instead of one for all classes
	// Trust is the factor s of P(clean) in tcl's targets. 0 means the fraction of labels with P(clean) > ½.
	Trust   float64 `yaml:"trust"`
	Cross   float64 `yaml:"cross_weight"`   // tcl: weight of the bootstrapped cross entropies
	Entropy float64 `yaml:"entropy_weight"` // tcl: weight of the entropy of predictions
	Balance float64 `yaml:"balance_weight"` // tcl: weight of the negative entropy of the mean prediction
	Align   float64 `yaml:"align_weight"`   // tcl: weight of the alignment with class centres

	Epoch int `yaml:"epoch"` // steps per epoch
}

// Default returns a method's published settings (METHODS 13), for epochs of one step. The View is winnow's choice.
func Default(method string) Config {
	c := Config{Method: method, Mixup: 1, View: View{Noise: 0.1, Dropout: 0.1}, Epoch: 1}
	switch method {
	case SelCL:
		c.Temperature, c.WarmUp, c.Alpha, c.Beta = 0.1, 1, 0.5, 0.5
		c.Average, c.Negatives, c.Queue, c.QueueStart, c.Classify, c.Similarity, c.Bootstrap = 0.999, 10000, 100, 3,
			1, 0.01, 0.2
	case TCL:
		c.Temperature, c.WarmUp = 0.25, 20
		c.Cross, c.Entropy, c.Balance, c.Align = 1, 1, 1, 1
	}
	return c
}

func (c Config) selclDetector() selclDetector {
	return selclDetector{K: c.K, Alpha: c.Alpha, Beta: c.Beta}
}

func (c Config) tclDetector() tclDetector {
	return tclDetector{Temperature: c.Temperature, PerClass: c.PerClass}
}

// isSecondStage reports whether an epoch, counted from 0, belongs to the second stage.
func (c Config) isSecondStage(epoch int) bool { return c.SecondStage > 0 && epoch >= c.SecondStage }

// maxQueue limits the length of a queue: positions in it are stored as float32.
const maxQueue = 1 << 24

// Validate returns an error for the first invalid setting, in one line.
func (c Config) Validate() error {
	if err := catalog.Check("selective: method", c.Method, Methods()...); err != nil {
		return err
	}
	check := catalog.Checker{Where: "selective: " + c.Method}
	check.That(c.Temperature > 0 && c.Temperature <= 1e6, "temperature", c.Temperature, "a number above 0")
	check.That(c.WarmUp >= 0, "warm_up", c.WarmUp, "0 or more epochs")
	check.That(c.Mixup >= 0 && c.Mixup <= 1e6, "mixup", c.Mixup, "a number above 0, or 0 for none")
	check.That(c.View.Noise >= 0 && c.View.Noise <= 1e3, "view.noise", c.View.Noise, "0 or more standard deviations")
	check.That(c.View.Dropout >= 0 && c.View.Dropout < 1, "view.dropout", c.View.Dropout, "a share from 0 to below 1")
	check.That(c.Negatives >= 0 && c.Negatives <= maxQueue, "negatives", c.Negatives,
		fmt.Sprintf("0 to %d vectors", maxQueue))
	check.That(c.Queue >= 0 && c.Queue <= maxQueue, "queue", c.Queue,
		fmt.Sprintf("0 to %d vectors of each view for each class", maxQueue))
	check.That(c.QueueStart >= 0, "queue_start", c.QueueStart, "0 or more epochs")
	check.That(c.Average >= 0 && c.Average < 1, "average", c.Average, "a share from 0 to below 1")
	check.That(c.Trust >= 0 && c.Trust <= 1, "trust", c.Trust, "a share up to 1, or 0 for the share of clean labels")
	check.That(c.SecondStage == 0 || c.SecondStage > c.WarmUp, "second_stage", c.SecondStage,
		fmt.Sprintf("0 for none, or more epochs than the warm-up, which has %d", c.WarmUp))
	check.That(c.Bootstrap >= 0 && c.Bootstrap < 1, "bootstrap", c.Bootstrap, "a share from 0 to below 1")
	check.That(c.Epoch >= 1, "epoch", c.Epoch, "at least 1 step")
	for _, w := range []struct {
		name  string
		value float64
	}{
		{"class_weight", c.Classify}, {"similarity_weight", c.Similarity}, {"cross_weight", c.Cross},
		{"entropy_weight", c.Entropy}, {"balance_weight", c.Balance}, {"align_weight", c.Align},
	} {
		check.That(w.value >= 0 && w.value <= 1e6, w.name, w.value, "0 or more")
	}
	check.That(c.K >= 0, "k", c.K, "1 or more neighbours, or 0 to choose the number by class size")
	check.That(c.Alpha >= 0 && c.Alpha <= 1, "alpha", c.Alpha, "a quantile from 0 to 1")
	check.That(c.Beta >= 0 && c.Beta <= 1, "beta", c.Beta, "a quantile from 0 to 1")
	return check.Err
}
