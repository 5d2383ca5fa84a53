package importing

import (
	"os"
	"strings"
)

// Help says for a command what sources there are, and how they are split.
const Help = "A SOURCE is a folder of class folders (perhaps below train/, val/, test/), or a file. =SPLIT names the\n" +
	"split of rows that say none. With --split the images are dealt out again, whole classes by default:\n\n" +
	"   winnow data import photos --split train=0.6,validation=0.2,test=0.2 --out manifest.csv\n" +
	"   winnow data import --format prism --strip-prefix /data/ CUB_train.csv=train CUB_test.csv=test --out cub.csv\n\n" +
	"A source may be a .zip file with such folders. --preset reads the files in which a dataset is published, in the\n" +
	"folder --root, split as --protocol says: official, half (half the classes train, the others test), prism (training,\n" +
	"validation and test classes) or usual (some images of each class, drawn once, train); what differs from the\n" +
	"published counts is told. Other commands find the images with the same --root:\n\n" +
	"   winnow data import --preset mnist --root mnist/ --validation 0.1 --out mnist.csv\n" +
	"   winnow data import --preset cub200 --root CUB_200_2011/ --protocol half --out cub.csv\n" +
	"   winnow data import --preset cub200 --root CUB_200_2011/ --protocol prism --given CUB_0.2noised_train.csv --out noisy.csv\n\n" +
	"In-Shop's test images are the splits query and gallery. cifar10n and cifar100n are CIFAR's binary version with the\n" +
	"human labels beside it, CIFAR's own becoming the true ones. --corrected-labels gives test images the label that most\n" +
	"people saw, and none where they agreed on no single one; the published label stays in a column. glyphs, winnow's own\n" +
	"dataset, is drawn into --root (or beside the manifest), as winnow data glyphs does it."

// SourceAndSplit takes SOURCE=SPLIT apart; what is there under its whole name is a source with a = in it.
func SourceAndSplit(arg string) (source, split string) {
	i := strings.LastIndexByte(arg, '=')
	if _, err := os.Stat(arg); err == nil || i <= 0 {
		return arg, ""
	}
	return arg[:i], arg[i+1:]
}
