// Package selective holds two baselines that choose, at the start of every epoch, which given labels to believe, and
// learn from the others without them: Sel-CL and TCL, on frozen features or, with a [Live] backbone, on images.
//
// "On frozen features" is part of their names where features are stored, as neither is the published system then. That trains a network on
// images: two random crops of an image are its views, images are mixed, the running average is of the whole network.
// Here the features of each image are stored, and a head is all that learns. A view of an image is its stored
// feature under noise and dropout ([View]), since no second crop is stored; features are mixed, not images; the
// running average is of the head. A live backbone is shown images: views are augmented, images are mixed, and the
// average is of all that learns. What decides about labels is computed as published (package filters/detectors).
//
//	x → head → u (n×D, unit rows: the embedding that is kept) → logits l = 4·u·Wᵀ + b (n×C)
//
// The head stands for the published projection, its rows for what the published classifier looks at; neither has
// batch normalization. The number 4 keeps the published rates stable whatever the head's scale.
//
// To the trainer (package train) both are one Encoder whose rows are all views of an image side by side, and the
// method is a loss over these, so that samplers, solvers, schedules, checkpoints and metrics are the trainer's. What
// an epoch began with and what the queues hold is the encoder's state: a resumed run repeats an uninterrupted one bit
// for bit.
//
// Vectors and products are float32; softmax, losses and choices are float64. Nothing here sees the truth about a
// label. May import train, features, head and filters/detectors.
package selective

import (
	"cmp"
	"fmt"

	"winnow/filters/detectors"
	"winnow/internal/catalog"
)

// Methods.
const (
	SelCL = "sel-cl"
	TCL   = "tcl"
)

// Methods lists them.
func Methods() []string { return []string{SelCL, TCL} }

// Title returns a method's name in full.
func Title(method string) string {
	return map[string]string{SelCL: "Sel-CL on frozen features", TCL: "TCL on frozen features"}[method]
}

// Config describes what learns and how. Lengths are in epochs; Epoch is filled in once an epoch's is known.
type Config struct {
	Method      string  `yaml:"method"`
	Temperature float64 `yaml:"temperature"` // of contrast, and of TCL's assignments
	// sel-cl: contrast without labels so long; tcl: all given labels are believed so long
	WarmUp int `yaml:"warm_up"`
	// a of the Beta(a, a) that shares of a mixture are drawn from; 0: nothing is mixed
	Mixup float64 `yaml:"mixup"`
	View  View    `yaml:"view"`

	// sel-cl: neighbours that vote; 0: 250, and half the mean class where that is less
	K int `yaml:"k"`
	// sel-cl: quantile, over classes, of agreeing rows: how many of each class are selected
	Alpha float64 `yaml:"alpha"`
	// sel-cl: quantile of selected pairs' similarities that other pairs must reach
	Beta      float64 `yaml:"beta"`
	Average   float64 `yaml:"average"`   // sel-cl: what the head's running average keeps in a step
	Negatives int     `yaml:"negatives"` // sel-cl: queue of contrast without labels
	// sel-cl: queue of contrast with labels, in rows of each view for each class; at most the training set
	Queue      int     `yaml:"queue"`
	QueueStart int     `yaml:"queue_start"`       // sel-cl: the second queue is only filled so long
	Classify   float64 `yaml:"class_weight"`      // sel-cl: weight of cross entropy of selected rows
	Similarity float64 `yaml:"similarity_weight"` // sel-cl: weight of the loss of predicted similarities

	// sel-cl: from this epoch on selected rows alone are learned from, by cross entropy (Sel-CL+); 0: never
	SecondStage int `yaml:"second_stage"`
	// sel-cl: share of the network's own word in the targets of the second stage
	Bootstrap float64 `yaml:"bootstrap"`

	PerClass bool `yaml:"per_class"` // tcl: a mixture for each class instead of one
	// tcl: s, what P(clean) is multiplied by in targets; 0: the share of labels found clean
	Trust   float64 `yaml:"trust"`
	Cross   float64 `yaml:"cross_weight"`   // tcl: weight of the bootstrapped cross entropies
	Entropy float64 `yaml:"entropy_weight"` // tcl: weight of the entropy of predictions
	Balance float64 `yaml:"balance_weight"` // tcl: weight of the negative entropy of the mean prediction
	Align   float64 `yaml:"align_weight"`   // tcl: weight of the alignment with class centres

	Epoch int `yaml:"epoch"` // steps in an epoch
}

// Default returns a method's published settings (METHODS 13), for epochs of one step. The view is ours.
func Default(method string) Config {
	c := Config{Method: method, Mixup: 1, View: View{Noise: 0.1, Dropout: 0.1}, Epoch: 1}
	switch method {
	case SelCL:
		s := detectors.DefaultSelCL()
		c.Temperature, c.WarmUp, c.K, c.Alpha, c.Beta = 0.1, 1, s.K, s.Alpha, s.Beta
		c.Average, c.Negatives, c.Queue, c.QueueStart, c.Classify, c.Similarity, c.Bootstrap = 0.999, 10000, 100, 3,
			1, 0.01, 0.2
	case TCL:
		c.Temperature, c.WarmUp = detectors.DefaultTCL().Temperature, 20
		c.Cross, c.Entropy, c.Balance, c.Align = 1, 1, 1, 1
	}
	return c
}

func (c Config) selcl() detectors.SelCL {
	return detectors.SelCL{K: c.K, Alpha: c.Alpha, Beta: c.Beta}
}

func (c Config) tcl() detectors.TCL {
	return detectors.TCL{Temperature: c.Temperature, PerClass: c.PerClass}
}

// second reports whether an epoch, from 0, is of the second stage.
func (c Config) second(epoch int) bool { return c.SecondStage > 0 && epoch >= c.SecondStage }

// maxQueue bounds a queue: positions in it are kept as float32.
const maxQueue = 1 << 24

// Validate returns an error that names the first wrong setting in one line. A setting that the method does not have
// must be left out.
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
	check.That(c.Trust >= 0 && c.Trust <= 1, "trust", c.Trust, "a share up to 1, or 0 for that of labels found clean")
	check.That(c.SecondStage == 0 || c.SecondStage > c.WarmUp, "second_stage", c.SecondStage,
		fmt.Sprintf("0 for none, or more epochs than the %d of the warm-up", c.WarmUp))
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
	err := cmp.Or(check.Err, c.checkOthers())
	if err == nil && c.Method == SelCL {
		return c.selcl().Validate()
	}
	return err
}

// checkOthers refuses settings of the other method.
func (c Config) checkOthers() error {
	zero, check := Config{}, catalog.Checker{Where: "selective: " + c.Method}
	for _, s := range []struct {
		name        string
		found, none any
		of          string
	}{
		{"k", c.K, zero.K, SelCL}, {"alpha", c.Alpha, zero.Alpha, SelCL}, {"beta", c.Beta, zero.Beta, SelCL},
		{"average", c.Average, zero.Average, SelCL}, {"negatives", c.Negatives, zero.Negatives, SelCL},
		{"queue", c.Queue, zero.Queue, SelCL}, {"queue_start", c.QueueStart, zero.QueueStart, SelCL},
		{"second_stage", c.SecondStage, zero.SecondStage, SelCL}, {"bootstrap", c.Bootstrap, zero.Bootstrap, SelCL},
		{"class_weight", c.Classify, zero.Classify, SelCL}, {"similarity_weight", c.Similarity, zero.Similarity, SelCL},
		{"per_class", c.PerClass, zero.PerClass, TCL}, {"trust", c.Trust, zero.Trust, TCL},
		{"cross_weight", c.Cross, zero.Cross, TCL},
		{"entropy_weight", c.Entropy, zero.Entropy, TCL}, {"balance_weight", c.Balance, zero.Balance, TCL},
		{"align_weight", c.Align, zero.Align, TCL},
	} {
		check.That(s.of == c.Method || s.found == s.none, s.name, s.found, "none: it belongs to "+s.of)
	}
	return check.Err
}
