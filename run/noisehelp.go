package run

// NoiseHelp says for a command which models of noise there are.
const NoiseHelp = "Models of noise:\n\n" +
	"   symmetric      to any other class; --count and --own vary it\n" +
	"   pair           to the next class, the last to the first\n" +
	"   bspml          as symmetric, in every class a share of its labels and at least one\n" +
	"   cifar10        truck to automobile, bird to airplane, cat to dog and back, deer to horse\n" +
	"   cifar100       to the next class of the same superclass\n" +
	"   small-cluster  whole classes fall into clusters of about two images, each of which joins another class\n" +
	"   human-like     images between their class and a similar one, to a similar class\n\n" +
	"The last two look at the images, through features that were extracted from all of them before:\n\n" +
	"   winnow data corrupt clean.csv --noise human-like --noise-rate 0.05 --features features --out noisy.csv"
