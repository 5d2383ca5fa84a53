package main

import (
	"maps"
	"slices"
)

// set is a dataset with the network and the settings it is tried with.
type set struct {
	root   string // below -data
	model  string // a name of the registry, or a file below -models
	arch   string // description from which a network is drawn for every seed, instead of model
	size   int    // side of the images where it is not the model's own
	noises []noise
	modes  []mode
	common []string // of every training
}

// noise is one manifest: a share of labels made wrong by winnow data corrupt, or a manifest that has them.
type noise struct {
	name     string
	manifest string  // below -data
	corrupt  float64 // share of the training labels made wrong
	rate     string  // what the filter is told
}

// mode is what is trained.
type mode struct {
	name  string
	flags []string
}

// sets are the sets compared, sized for two cores. Settings were chosen on clean labels of seed 1 and validation
// classes, and are the same for every noise and filter.
var sets = map[string]set{
	"cub": {
		root: "cub.zip", model: "squeezenet1.1.onnx", size: 112,
		noises: symmetric("cub.csv"),
		modes: []mode{
			{"head", []string{"--steps", "240", "--set", "validation.every=120 steps"}},
			{"last stage", []string{"--steps", "120", "--finetune", "stage4", "--backbone-lr", "3e-4", "--set", "validation.every=60 steps"}},
			{"all", []string{"--steps", "120", "--finetune", "all", "--backbone-lr", "1e-4", "--set", "validation.every=60 steps"}},
		},
	},
	"cifar10n": {
		root: "cifar10", arch: "cifar_resnet8",
		noises: []noise{
			{"clean", "cifar10/clean.csv", 0, "0.05"},
			{"random1, 18 %", "cifar10/random1.csv", 0, "0.2"},
			{"worse, 42 %", "cifar10/worse.csv", 0, "0.4"},
		},
		common: append(scratch(), "--batch", "8x8", "--loss", "soft_triple"),
		modes:  fromScratch("stage3", "600", "3e-3"),
	},
	"mnist": {
		root: "mnist", arch: "lenet5",
		noises: symmetric("mnist.csv"),
		common: append(scratch(), "--batch", "8x16"),
		modes:  fromScratch("stage3", "300", "1e-3"),
	},
	"omniglot": {
		root: "omniglot/omniglot.zip", arch: "convnet4",
		noises: symmetric("omniglot/omniglot.csv"),
		common: scratch(),
		modes:  fromScratch("block4", "300", "1e-3"),
	},
}

// scratch returns the settings of networks that begin with drawn weights: where all of one is trained, its batch
// normalisation learns too. Where only the last stage is, it stays: the head starts from the whitening of features
// under the stored statistics, and so little of a network does not recover from other ones.
func scratch() []string {
	return []string{"--set", "finetune.batch_norm=train", "--set", "backbone_schedule.warm_up=20 steps", "--dim", "128", "--lr", "1e-3"}
}

func fromScratch(last, steps, lr string) []mode {
	every := []string{"--steps", steps, "--set", "validation.every=100 steps"}
	return []mode{
		{"head", every},
		{"last stage", append([]string{"--finetune", last, "--backbone-lr", lr, "--set", "finetune.batch_norm=frozen"}, every...)},
		{"all", append([]string{"--finetune", "all", "--backbone-lr", lr}, every...)},
	}
}

func symmetric(manifest string) []noise {
	return []noise{
		{"clean", manifest, 0, "0.05"},
		{"20 %", manifest, 0.2, "0.2"},
		{"50 %", manifest, 0.5, "0.5"},
	}
}

func setNames() []string { return slices.Sorted(maps.Keys(sets)) }
