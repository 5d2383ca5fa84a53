package rules

// Room is a folder of Go files with its purpose and the rooms of winnow that its files, except tests, may import.
type Room struct {
	Path    string // relative to the repository's root; /... at the end includes all folders below
	Job     string
	Imports string // separated by spaces; "*": all. Rooms of openToAll need not be listed.
}

// openToAll lists the rooms that every room may import.
const openToAll = "datasets/location internal/atomicfile internal/catalog internal/interrupt " +
	"internal/lock internal/regular internal/seal internal/seen internal/text"

// rooms lists all rooms in the order of the data flow. ARCHITECTURE.md contains this table; go test ./internal/rules
// -update writes it there.
var rooms = []Room{
	{".", "contains no code: the package documentation of the library, and examples",
		""},

	{"datasets", "describes samples with their given and true labels; contains models of label noise",
		"datasets/shards internal/document internal/text"},
	{"datasets/location", "locates and opens files and folders on this machine or in an object store, and " +
		"finds them after they were moved", ""},
	{"datasets/bucket", "reads the objects of a bucket as files: S3, compatible servers, Google Cloud Storage",
		""},
	{"datasets/shards", "finds tar and Parquet files by name patterns, and images and rows in them; limits " +
		"the memory for reading them",
		""},
	{"datasets/importing", "reads sources or a published dataset, splits them as in papers, and writes a manifest",
		"datasets datasets/imageroot datasets/packed internal/text"},
	{"datasets/glyphs", "draws the built-in dataset: characters of open fonts",
		"datasets datasets/packed"},
	{"datasets/drawings", "draws the images of winnow quickstart, with wrong labels, duplicates and outliers",
		"datasets"},
	{"datasets/classnames", "gives classes readable names, from a file, from a column of the manifest, or for drawn " +
		"characters",
		"datasets internal/regular internal/text"},
	{"datasets/packed", "reads MNIST and CIFAR, and serves images stored as bare pixels as image files",
		"datasets"},
	{"datasets/imageroot", "opens the root of a manifest's paths: a folder, a .zip file, shards, or a " +
		"published dataset; lists images from any of these",
		"datasets datasets/packed datasets/shards internal/text"},

	{"features", "holds labelled vectors and parameters in memory, the memory bank, and the feature store on disk",
		""},
	{"cluster", "divides the work of a command among machines: shards, joining, templates for Slurm and Kubernetes",
		"datasets/location internal/hint"},
	{"backbone/graph", "represents an ONNX model as data: reads, checks, infers shapes, cuts, joins, writes",
		""},
	{"backbone/graph/gradient", "builds the derivative of a model as two more models; determines which weights " +
		"can be trained",
		"backbone/graph"},
	{"losses", "computes losses and their gradients",
		"features"},

	{"head", "maps features to unit embeddings, and gradients of embeddings to gradients of weights; uses Gorgonia",
		"features internal/eigen"},

	{"eval", "evaluates retrieval, clustering, classifiers and the detection of label errors",
		"features internal/spread"},
	{"eval/tsne", "projects vectors to the plane: Barnes-Hut t-SNE, principal components",
		"eval features head"},

	{"filters", "estimates during training which given labels are right",
		"features"},
	{"filters/leaveout", "compares every image with every class, leaving the image itself out of its class",
		"features"},
	{"filters/noiserate", "estimates the noise rate of a whole set",
		"features filters/leaveout"},
	{"filters/selfpaced", "weights every training sample (BSPML)",
		"features"},

	{"train", "runs the training loop: sampler, loss terms, solvers, schedules, checkpoints, observers",
		"backbone/graph features filters filters/selfpaced head internal/spread " +
			"internal/tfevents losses"},
	{"train/peers", "trains classifiers under label noise: Co-teaching and its variants, F-correction",
		"features head losses train"},
	{"train/selective", "trains with Sel-CL and TCL, on frozen features or with a trainable backbone",
		"eval features filters head internal/spread train"},

	{"backbone", "turns image files into vectors: decodes, orients, resizes, crops, augments, batches, infers",
		"backbone/jfif datasets features"},
	{"backbone/jfif", "decodes JPEG images with the same pixels as libjpeg",
		""},
	{"backbone/ort", "runs models with ONNX Runtime: sessions, trainable networks, CPU and CUDA, the fast BLAS; has " +
		"the only cgo",
		"backbone features backbone/graph backbone/graph/gradient internal/ortlib"},
	{"backbone/live", "trains a backbone with its head: from rows to pixels to unit vectors, and gradients back",
		"backbone features head"},

	{"models", "lists backbones and checks their files, stores trained heads on disk",
		// backbone: an entry contains its preprocessing
		"backbone backbone/graph backbone/graph/gradient head internal/hint models/architecture"},
	{"models/architecture", "builds untrained networks by name and seed",
		"backbone backbone/graph"},
	{"run/extraction", "turns a list of images into a feature store; downloads a backbone's files and tests them first",
		"backbone backbone/ort cluster datasets datasets/classnames datasets/location features filters/leaveout " +
			"filters/noiserate internal/budget internal/fetch internal/hint models backbone/graph"},

	{"audit", "finds label errors in a whole set, and suggests which labels to drop or replace",
		"audit/crossfit audit/findings audit/judges audit/suspects eval features filters filters/leaveout " +
			"filters/noiserate head train"},
	{"audit/judges", "is the catalog of scorers, which score all labels of a set at once",
		"eval features filters/leaveout filters/noiserate internal/eigen"},
	{"audit/crossfit", "scores labels with heads that were not trained on the images they score",
		"audit/judges features filters/leaveout filters/noiserate head losses train"},
	{"audit/findings", "finds outliers, duplicates with different labels, and classes to merge or to split",
		"eval features filters filters/leaveout internal/spread"},
	{"audit/learn", "learns from reviewers' decisions which labels are wrong, and chooses the images to show next",
		"audit/suspects eval features head"},
	{"audit/suspects", "reads and writes the table of scored images: CSV and JSON",
		""},

	{"search", "finds the nearest of many stored vectors exactly, with a growing index on disk",
		"eval features internal/hint"},
	{"run", "turns a configuration and data into a training run and its folder",
		"audit audit/judges backbone datasets datasets/imageroot eval run/embedding run/extraction features filters " +
			"filters/leaveout filters/noiserate filters/selfpaced backbone/graph head " +
			"internal/budget internal/hint internal/lookup losses models run/config run/folder " +
			"run/tuning search train train/peers train/selective"},
	{"run/config", "builds a run's configuration from recipe, file, settings and flags; contains the papers' recipes",
		"audit/judges filters filters/selfpaced head internal/document internal/hint losses train train/peers " +
			"train/selective"},
	{"run/measure", "measures an opened run with the chosen metrics, next to frozen and whitened features",
		"cluster datasets eval features head internal/budget internal/hint internal/lookup run/folder"},
	{"run/folder", "defines the files of a run, and opens them again",
		"backbone datasets datasets/imageroot eval run/extraction features filters/noiserate head internal/hint " +
			"internal/lookup models run/config train"},
	{"run/tuning", "trains a backbone with its head: weights, images, state on disk",
		"backbone backbone/live backbone/ort datasets/imageroot run/extraction features backbone/graph " +
			"backbone/graph/gradient head internal/hint models models/architecture run/config " +
			"run/folder train " +
			"train/selective"},
	{"run/inspect", "audits the labels of images, of a manifest by stored features, or of a run, and writes the " +
		"corrected manifest",
		"audit audit/crossfit audit/findings audit/learn audit/suspects backbone datasets datasets/classnames " +
			"datasets/imageroot datasets/location eval run/extraction features filters filters/noiserate head " +
			"internal/hint internal/lookup run run/config run/folder run/tuning train"},

	{"run/check", "tests labels in CI: new findings of an audit against a baseline or an earlier list, and their " +
		"formats",
		"audit/suspects datasets internal/hint run/inspect"},

	{"report", "writes the pages about runs and audits: single runs, comparisons, retrieved images, maps",
		"audit audit/suspects backbone datasets datasets/classnames datasets/imageroot eval eval/tsne " +
			"features filters internal/hint internal/lookup " +
			"report/page run/check run/inspect run/config run/measure run/folder train"},
	{"report/page", "draws charts and maps as SVG, and writes a report as one self-contained page",
		"eval internal/pagestyle internal/spread"},

	{"run/grid", "runs the trainings of a study or a sweep, several at once, and saves each result; estimates " +
		"their time, and chooses a sweep's best by validation",
		"backbone/ort datasets run/extraction features internal/budget internal/hint run run/config run/measure " +
			"run/folder train"},
	{"papers/studies", "contains the papers' tables and figures as data, tests their claims and writes the pages",
		"internal/spread report/page"},
	{"papers/runner", "runs the cells of studies: trains, scores, estimates, measures, saves, writes",
		"audit audit/suspects backbone/ort datasets eval run/extraction features filters head internal/hint " +
			"internal/lookup internal/spread papers/studies papers/theory run run/inspect run/grid " +
			"run/config run/folder run/measure train"},
	{"papers/theory", "computes the effect of label noise on pairs, triplets and bounds, and the error of " +
		"estimating a " +
		"class's concentration; measures true and false pairs of batches",
		"datasets features filters internal/hint losses report/page run run/config run/folder train"},

	{"run/embedding", "embeds lists of images with a run, an exported model or a backbone; builds indexes and " +
		"searches them; opens only the head of a run",
		"backbone backbone/ort datasets datasets/imageroot run/extraction features head internal/hint " +
			"internal/lookup models search"},
	{"run/export", "exports a run: vectors as files or rows of PostgreSQL, backbone and head as one model",
		"backbone backbone/ort datasets run/embedding run/extraction features internal/hint internal/lookup models " +
			"run/folder"},

	{"report/review", "serves the page on which people view a set and decide about its images, and writes the " +
		"corrected list",
		"audit/learn audit/suspects backbone datasets datasets/classnames datasets/imageroot datasets/shards " +
			"eval/tsne internal/hint internal/pagestyle report/page report/review/decisions " +
			"run/embedding search"},
	{"report/review/decisions", "stores decisions and their history durably; uses SQLite",
		"datasets"},

	{"cmd/...", "turns flags into plain options, makes one call, prints",
		"*"},

	{"internal/atomicfile", "replaces files atomically: a path holds the old content or the new",
		""},
	{"internal/catalog", "checks the settings of a catalog's entries and finds entries by name, or the nearest name",
		""},
	{"internal/document", "parses YAML of bounded size and depth",
		""},
	{"internal/fetch", "downloads a file of known sha256, resumes interrupted downloads, checks the result",
		""},
	{"internal/tfevents", "writes scalars for TensorBoard",
		""},
	{"internal/hint", "attaches to an error what the user can do about it",
		""},
	{"internal/budget", "determines the available memory, and divides the memory of a command",
		"internal/hint"},
	{"internal/seal", "appends a checksum to a JSON file",
		""},
	{"internal/seen", "checks whether an image's file has changed since its vector was computed",
		""},
	{"internal/interrupt", "handles signals: the first ends the work, the second ends the process", ""},
	{"internal/lookup", "finds the images of a manifest in a feature store",
		"cluster datasets features internal/hint"},
	{"internal/lock", "locks a folder or a file for one writer, until its process ends",
		""},
	{"internal/ortlib", "finds and installs ONNX Runtime's shared library",
		""},
	{"internal/pagestyle", "contains the style sheet, the icon and the header of all pages",
		""},
	{"internal/regular", "opens only regular files, so that pipes and devices cannot block the program",
		""},
	{"internal/rules", "contains this table and tests it",
		""},
	{"internal/text", "formats numbers, sizes, names and tables for display, and writes JSON",
		""},
	{"internal/eigen", "decomposes symmetric matrices",
		""},
	{"internal/printable", "keeps control characters in labels, paths and errors from the terminal",
		""},
	{"internal/spread", "summarises values as a box plot does, finds the k-th largest, and compares two methods by " +
		"their repetitions: t-test, interval, Holm's correction",
		""},
	{"internal/testing/costs", "runs tests and lists those that take the most processor time",
		""},
	{"internal/testing/killed", "kills test processes in the middle of their work",
		""},
	{"internal/testing/onnxtest", "writes ONNX files in forms that winnow reads but does not write",
		""},
	{"internal/testing/memory", "limits in tests the memory that a call allocates",
		""},
	{"internal/testing/million", "writes a dataset with a million rows",
		"features search"},
	{"internal/testing/orttest", "gives tests a loaded ONNX Runtime",
		"backbone/ort internal/ortlib"},
	{"internal/testing/pictures", "makes the images of the documentation: runs winnow, takes screenshots of its pages",
		"audit/suspects datasets/imageroot internal/atomicfile internal/pagestyle internal/testing/reviewing"},
	{"internal/testing/reviewing", "makes decisions on the page of a review, for tests and images",
		""},
	{"internal/testing/pgvectortest", "runs PostgreSQL with pgvector for tests, and breaks connections to it",
		""},
	{"internal/testing/reference", "contains golden values for tests; finds models and images outside the repository",
		""},
	{"internal/testing/s3test", "serves a bucket to tests over the S3 protocol, and corrupts responses", ""},
	{"internal/testing/tarfile", "makes tar files for tests",
		""},

	{"internal/testing/exports", "contains small networks as written by exporters, with their outputs", ""},
	{"internal/testing/winnowtest", "runs the command line in tests, with files in memory",
		"cmd/winnow/program cmd/winnow/term"},
}

// only lists external packages (with packages below) and the only rooms, separated by spaces, that may import them.
var only = map[string]string{
	"gorgonia.org":                      "head",
	"github.com/yalue/onnxruntime_go":   "backbone/ort",
	"C":                                 "backbone/ort",
	"modernc.org/sqlite":                "report/review/decisions",
	"github.com/urfave/cli":             "cmd/...",
	"github.com/disintegration/imaging": "backbone datasets/drawings",
	"github.com/jackc/pgx":              "run/export",
}
