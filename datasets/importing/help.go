package importing

import (
	"os"
	"strings"
)

// Help explains a command's sources and how they are split.
const Help = `A SOURCE is a folder of class folders (optionally below train/, val/, test/), a .zip file of such
a folder, or a file such as a manifest. =SPLIT sets the split of rows that name none. --split splits the images, by
whole classes by default:

   winnow data import photos --split train=0.6,validation=0.2,test=0.2 --out manifest.csv
   winnow data import --format prism --strip-prefix /data/ CUB_train.csv=train CUB_test.csv=test --out cub.csv

--preset reads a published dataset from its original files in the folder --root. --protocol chooses the split:
official, half (half the classes train, the others test), prism (training, validation and test classes) or usual
(some images of each class, drawn once, train). Differences from the published counts are reported. Other commands
find the images with the same --root:

   winnow data import --preset mnist --root mnist/ --validation 0.1 --out mnist.csv
   winnow data import --preset cub200 --root CUB_200_2011/ --protocol half --out cub.csv
   winnow data import --preset cub200 --root CUB_200_2011/ --protocol prism --given noised_train.csv --out noisy.csv

In-Shop's test images are the splits query and gallery. cifar10n and cifar100n read CIFAR's binary version with a
file of human labels next to it; CIFAR's own labels become the true ones. --corrected-labels gives test images the
label that most people saw, or no label without a majority; a column keeps the published label. glyphs, winnow's own
dataset, is drawn into --root (or next to the manifest), as winnow data glyphs does it.`

// SourceAndSplit splits SOURCE=SPLIT. If a file exists under the whole name, it is a source with a = in its name.
func SourceAndSplit(arg string) (source, split string) {
	i := strings.LastIndexByte(arg, '=')
	if _, err := os.Stat(arg); err == nil || i <= 0 {
		return arg, ""
	}
	return arg[:i], arg[i+1:]
}
