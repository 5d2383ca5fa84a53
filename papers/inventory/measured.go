package inventory

// images are the numbers of training images of datasets, as in the papers 001 and 003 (CARS196, CUB200-2011, SOP) and
// 002 (In-Shop); the others as published, with 60 images a class of Caltech-256. They are of the first half of the
// classes of CUB, CARS and Flowers; with a study before the name, of all classes.
var images = map[string]int{
	"cars196": 8054, "cub200": 5864, "sop": 59551, "inshop": 25882, "cifar10": 50000, "cifar100": 50000,
	"mnist": 60000, "fashion-mnist": 60000, "imagenet": 1281167,
	"cifar10-corrected": 50000, "cifar100-corrected": 50000, "imagenet-corrected": 1281167,
	"sclrhe-table4 cub200": 5994, "sclrhe-table4 flowers102": 1020,
	"flowers102": 3493, "cars98n": 9558, "food101n": 310009, "caltech256": 15360, "pets": 3680, "inat2017": 579184,
	"places365": 1803460,
	// the images at hand: experiments/prepare
	"omniglot": 2840, "cub": 2990, "cifar-probes cifar10": 5000,
}

// rate is the measured time of a training step.
type rate struct {
	begins  string  // of the names of studies
	seconds float64 // of a step, on a machine with 2 cores, both busy
	images  int     // that the measured trainings had
	of      string  // what was measured
	from    string  // source of the numbers
}

// heads are the rates of heads on stored features: the mean seconds of the trainings in a results.csv, divided by
// their steps and by the number of cells that ran at once.
var heads = []rate{
	{"adapted-figure7", 8.11 / 2000 / 2, 2990, "35 cells", "experiments/reproduce/adapted-table1"}, // the same
	{"adapted-figure", 23.00 / 2000 / 2, 60000, "18 cells", "experiments/reproduce/adapted-figure4"},
	{"adapted-", 8.11 / 2000 / 2, 2990, "35 cells", "experiments/reproduce/adapted-table1"},
	{"bspml-", 6.04 / 1000 / 2, 2990, "135 cells", "experiments/reproduce/bspml-table2"},
	// 20 epochs of 2,990 images, 60 a batch
	{"noisy-", 2.47 / 1000 / 2, 2990, "144 cells", "experiments/reproduce/noisy-figure2"},
	{"prism-", 20.21 / 1000 / 2, 2990, "250 cells", "experiments/reproduce/prism-table2"},
	// 10 epochs of 4,500 images, Sel-CL and TCL among the rows
	{"sclrhe-table3", 7.99 / 90 / 2, 4500, "75 cells", "experiments/scl_rhe/table3-short"},
	// 100 epochs of 4,500 images, 512 a batch; one cell at once on one thread
	{"sclrhe-", 29.94 / 900 / 2, 4500, "45 cells", "experiments/scl_rhe/table3"},
}

// networks are the rates of whole networks: core-seconds of single runs, divided by 2 cores (docs/log, 2026-11-25,
// "What a step costs").
var networks = []rate{
	{"adapted-figure4", 0.09 / 2, 60000, "LeNet, 256 images", "docs/log/2026-11.md"},
	{"adapted-figure6", 0.09 / 2, 60000, "LeNet, 256 images", "docs/log/2026-11.md"},
	{"bspml-", 0.07 / 2, 2840, "convnet4, 64 images", "docs/log/2026-11.md"},
	{"cifar-", 0.45 / 2, 5000, "ResNet-8, 128 images", "docs/log/2026-11.md"},
	{"omniglot-", 0.07 / 2, 2840, "convnet4, 64 images", "docs/log/2026-11.md"},
	{"prism-", 0.61 / 2, 2990, "SqueezeNet 112², 64 images", "docs/log/2026-11.md"},
	{"sclrhe-", 0.45 / 2, 5000, "ResNet-8, 128 images", "docs/log/2026-11.md"},
}
