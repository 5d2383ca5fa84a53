package rules

// Room is a folder of Go files, what it is for, and which rooms of winnow its files (tests aside) may import.
type Room struct {
	Path    string // from the repository's root; one that ends in /... stands for all folders below it
	Job     string
	Imports string // parted by spaces; "*": all. Those of openToAll need no mention.
}

// openToAll may be imported by every room.
const openToAll = "datasets/location internal/atomicfile internal/catalog internal/interrupt " +
	"internal/lock internal/regular internal/seal internal/seen internal/text"

// rooms are all rooms, in the order in which data flows. ARCHITECTURE.md prints this table:
// go test ./internal/rules -update writes it there.
var rooms = []Room{
	{".", "holds no code: the library's first page, and examples",
		""},

	{"datasets", "says which samples there are, how they are labelled and how they should be; models of label noise",
		"datasets/shards internal/document internal/text"},
	{"datasets/location", "says where files and folders are, on this machine or in an object store, opens them, and " +
		"finds them when they moved", ""},
	{"datasets/bucket", "reads the objects of a bucket as files: S3, all that speaks its protocol, Google's storage",
		""},
	{"datasets/shards", "finds tar and Parquet files by patterns of names, and images and rows in them; bounds " +
		"what they make readers allocate",
		""},
	{"datasets/importing", "gathers sources or a published data set, splits them as papers do, and writes a manifest",
		"datasets datasets/imageroot datasets/packed internal/text"},
	{"datasets/glyphs", "draws the embedded data set: characters of open fonts",
		"datasets datasets/packed"},
	{"datasets/classnames", "shows classes by names that people know: of a file, of a manifest's column, of drawn " +
		"characters",
		"datasets internal/regular internal/text"},
	{"datasets/packed", "reads MNIST and CIFAR, and serves images stored as bare pixels as image files",
		"datasets"},
	{"datasets/imageroot", "opens what a manifest's paths start from: a folder, a .zip file, shards, a " +
		"published data set; gathers images from any of them",
		"datasets datasets/packed datasets/shards internal/text"},

	{"features", "holds labelled vectors and parameters in memory, the memory bank, and the feature store on disk",
		""},
	{"cluster", "divides one command's work among machines: parts, their join, templates for Slurm and Kubernetes",
		"datasets/location internal/hint"},
	{"backbone/graph", "holds an ONNX model as data: read, check, infer shapes, cut, join, write",
		""},
	{"backbone/graph/gradient", "writes a model's derivative as two more models; knows which of its weights " +
		"can be trained",
		"backbone/graph"},
	{"losses", "computes numbers and their gradients",
		"features"},

	{"head", "turns features into unit embeddings and their gradients into gradients of weights; holds Gorgonia",
		"features internal/eigen"},

	{"eval", "measures retrieval, clusters, classifiers and the detection of wrong labels",
		"features internal/spread"},
	{"eval/tsne", "draws vectors as points of a plane: t-SNE by Barnes and Hut's tree, principal components",
		"eval features head"},

	{"filters", "judges during training which given labels look right",
		"features"},
	{"filters/leaveout", "compares every image with every class, the image itself left out of what it is compared with",
		"features"},
	{"filters/noiserate", "estimates how many given labels of a whole set are wrong",
		"features filters/leaveout"},
	{"filters/selfpaced", "weighs every training sample (BSPML)",
		"features"},

	{"train", "runs the loop: sampler, terms, solvers, schedules, checkpoints, observers",
		"backbone/graph features filters filters/selfpaced head internal/spread " +
			"internal/tfevents losses"},
	{"train/peers", "trains classifiers under noise: Co-teaching and its relatives, F-correction",
		"features head losses train"},
	{"train/selective", "trains with Sel-CL and TCL, on frozen features or a backbone that learns too",
		"eval features filters head internal/spread train"},

	{"backbone", "turns image files into vectors: decode, orient, resize, crop, augment, batch, infer",
		"backbone/jfif datasets features"},
	{"backbone/jfif", "decodes JPEG photographs to libjpeg's bits",
		""},
	{"backbone/ort", "runs models with ONNX Runtime: sessions, live networks, CPU and CUDA, the fast BLAS; holds " +
		"the only cgo",
		"backbone features backbone/graph backbone/graph/gradient internal/ortlib"},
	{"backbone/live", "trains a backbone with its head: rows to pixels to unit vectors, and gradients back",
		"backbone features head"},

	{"models", "knows backbones and checks their files, keeps trained heads on disk",
		// backbone: an entry holds its preprocessing
		"backbone backbone/graph backbone/graph/gradient head internal/hint models/architecture"},
	{"models/architecture", "builds untrained networks by name and seed",
		"backbone backbone/graph"},
	{"run/extraction", "turns a list of images into a feature store, brings a backbone's files, and tries it first",
		"backbone backbone/ort cluster datasets datasets/classnames datasets/location features filters/leaveout " +
			"filters/noiserate internal/budget internal/fetch internal/hint models backbone/graph"},

	{"audit", "finds which given labels of a whole set are wrong, and which of them to drop or replace",
		"audit/crossfit audit/findings audit/judges audit/suspects eval features filters filters/leaveout " +
			"filters/noiserate head train"},
	{"audit/judges", "is the catalog of ways to judge the labels of a whole set at once",
		"eval features filters/leaveout filters/noiserate internal/eigen"},
	{"audit/crossfit", "judges labels with heads trained on the spot, none of them on what it judges",
		"audit/judges features filters/leaveout filters/noiserate head losses train"},
	{"audit/findings", "finds strangers, copies with other labels, and classes that look like one or like two",
		"eval features filters filters/leaveout internal/spread"},
	{"audit/learn", "learns from people's decisions which labels are wrong, and chooses what to show next",
		"audit/suspects eval features head"},
	{"audit/suspects", "reads and writes the table of judged images: CSV and JSON",
		""},

	{"run", "turns a configuration and data into a training run and its folder",
		"audit audit/judges datasets datasets/imageroot eval run/extraction features filters " +
			"filters/leaveout filters/noiserate filters/selfpaced backbone/graph head " +
			"internal/budget internal/hint internal/lookup losses models run/config run/folder " +
			"run/tuning train train/peers train/selective"},
	{"run/config", "is the configuration of a run, of recipe, file, settings and flags; holds the papers' recipes",
		"audit/judges filters filters/selfpaced head internal/document internal/hint losses train train/peers " +
			"train/selective"},
	{"run/measure", "measures an opened run by the metrics asked for, beside frozen and whitened features",
		"cluster datasets eval features head internal/budget internal/hint internal/lookup run/folder"},
	{"run/folder", "knows the files that a training leaves, and opens them again",
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

	{"report", "draws the pages of runs and audits: one or several, what images find, maps",
		"audit audit/suspects backbone datasets datasets/classnames datasets/imageroot eval eval/tsne " +
			"features filters internal/hint internal/lookup " +
			"report/page run/inspect run/config run/measure run/folder train"},
	{"report/page", "draws charts and maps as SVG, and writes a report as one page that needs nothing else",
		"eval internal/pagestyle internal/spread"},

	{"run/grid", "runs many trainings, of a study or a sweep: several at once, each kept when it is done; estimates " +
		"their time, and chooses a sweep's best by validation",
		"backbone/ort datasets run/extraction features internal/budget internal/hint run run/config run/measure " +
			"run/folder train"},
	{"papers/studies", "holds the papers' tables and figures as data, tests their claims and draws the pages",
		"internal/spread report/page"},
	{"papers/runner", "runs the cells of studies: trains, judges, estimates, measures, keeps, writes",
		"audit audit/suspects backbone/ort datasets eval run/extraction features filters head internal/hint " +
			"internal/lookup internal/spread papers/studies papers/theory run run/inspect run/grid " +
			"run/config run/folder run/measure train"},
	{"papers/theory", "computes what label noise does to pairs, triplets and bounds, and the error of estimates of a " +
		"class's concentration; measures true and false pairs of batches",
		"datasets features filters internal/hint losses report/page run run/config run/folder train"},

	{"search", "finds the nearest of many stored vectors, exactly; an index on disk that grows",
		"eval features internal/hint"},
	{"run/embedding", "embeds lists of images by a run, an exported model or a backbone; builds indexes, and " +
		"searches by them; opens a run's head without the rest of it",
		"backbone backbone/ort datasets datasets/imageroot run/extraction features head internal/hint " +
			"internal/lookup models search"},
	{"run/export", "exports a run: vectors as files or rows of PostgreSQL, backbone and head as one model",
		"backbone backbone/ort datasets run/embedding run/extraction features internal/hint internal/lookup models " +
			"run/folder"},

	{"report/review", "serves the page on which people look at a set and decide about its images, and writes the " +
		"corrected list",
		"audit/learn audit/suspects backbone datasets datasets/classnames datasets/imageroot datasets/shards " +
			"eval/tsne internal/hint internal/pagestyle report/page report/review/decisions " +
			"run/embedding search"},
	{"report/review/decisions", "keeps decisions and their history durably; holds SQLite",
		"datasets"},

	{"cmd/...", "wires: flags to plain options, one call, print",
		"*"},

	{"internal/atomicfile", "writes files that are either the old one or the new one",
		""},
	{"internal/catalog", "checks the settings of a catalog's entries and finds entries by name, or the nearest name",
		""},
	{"internal/document", "parses YAML of bounded size and depth",
		""},
	{"internal/fetch", "downloads a file of known sha256, continues one that broke off, checks it",
		""},
	{"internal/tfevents", "writes scalars as TensorBoard reads them",
		""},
	{"internal/hint", "lets an error carry what its reader can do about it",
		""},
	{"internal/budget", "says what memory a machine has, and divides what a command may take",
		"internal/hint"},
	{"internal/seal", "ends a JSON file with a sum of itself",
		""},
	{"internal/seen", "tells whether an image's file is the one that a vector was made from",
		""},
	{"internal/interrupt", "ends the program by signals: a first one its work, a second one the process", ""},
	{"internal/lookup", "finds the images of a manifest in a feature store",
		"cluster datasets features internal/hint"},
	{"internal/lock", "holds a folder or a file for one writer, for as long as its process lives",
		""},
	{"internal/ortlib", "finds and installs ONNX Runtime's shared library",
		""},
	{"internal/pagestyle", "is the style sheet, the icon and the header of all pages",
		""},
	{"internal/regular", "opens regular files only, so that pipes and devices hold nothing up",
		""},
	{"internal/rules", "holds this table and tests it",
		""},
	{"internal/text", "writes numbers, sizes, names and tables for people, and JSON",
		""},
	{"internal/eigen", "decomposes symmetric matrices",
		""},
	{"internal/printable", "lets no control character of a label, a path or an error reach a terminal",
		""},
	{"internal/spread", "summarises values as a box plot does, finds the k-th largest, and compares two ways by " +
		"their repetitions: t-test, interval, Holm's correction",
		""},
	{"internal/testing/costs", "runs tests and lists those that take the most processor time",
		""},
	{"internal/testing/killed", "kills processes of tests in the middle of their work",
		""},
	{"internal/testing/onnxtest", "writes ONNX files in forms that winnow reads and does not write",
		""},
	{"internal/testing/memory", "bounds in tests what a call allocates",
		""},
	{"internal/testing/million", "makes a million rows",
		"features search"},
	{"internal/testing/orttest", "gives tests a loaded ONNX Runtime",
		"backbone/ort internal/ortlib"},
	{"internal/testing/pictures", "makes the pictures of the documentation: runs winnow, photographs its pages",
		"audit/suspects datasets/imageroot internal/atomicfile internal/pagestyle internal/testing/reviewing"},
	{"internal/testing/reviewing", "decides on the page of a review, for tests and pictures",
		""},
	{"internal/testing/pgvectortest", "runs PostgreSQL with pgvector for tests, and breaks connections to it",
		""},
	{"internal/testing/reference", "holds the golden values for tests; finds models and images beside the repository",
		""},
	{"internal/testing/s3test", "serves a bucket to tests by S3's protocol, and spoils answers", ""},
	{"internal/testing/tarfile", "makes tar files for tests",
		""},

	{"internal/testing/exports", "holds small networks as exporters write them, and what they compute", ""},
	{"internal/testing/winnowtest", "runs the command line in tests, with files in memory",
		"cmd/winnow/program cmd/winnow/term"},
}

// only says which rooms alone (parted by spaces) may import a thing of the outside, with all that lies below it.
var only = map[string]string{
	"gorgonia.org":                      "head",
	"github.com/yalue/onnxruntime_go":   "backbone/ort",
	"C":                                 "backbone/ort",
	"modernc.org/sqlite":                "report/review/decisions",
	"github.com/urfave/cli":             "cmd/...",
	"github.com/disintegration/imaging": "backbone",
	"github.com/jackc/pgx":              "run/export",
}
