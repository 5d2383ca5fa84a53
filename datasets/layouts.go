package datasets

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// publishedFiles are the files and folders by which a published data set is recognised, and the preset that reads it
// with its own splits.
var publishedFiles = map[string]string{"image_class_labels.txt": "cub200", "devkit/cars_meta.mat": "cars196",
	"cars_annos.mat": "cars196", "devkit/cars_train_annos.mat": "cars196",
	"Ebay_train.txt": "sop", "Eval/list_eval_partition.txt": "inshop",
	"list_eval_partition.txt": "inshop", "meta/train.txt": "food101", "setid.mat": "flowers102",
	"annotations/trainval.txt": "pets", "101_ObjectCategories": "caltech101", "256_ObjectCategories": "caltech256",
	"places365_train_standard.txt": "places365", "train2017.json": "inat2017", "train2018.json": "inat2018",
	"ILSVRC2012_devkit_t12": "imagenet", "meta/verified_train.tsv": "food101n", "datalist/CARSN_train.csv": "cars98n",
	"data_batch_1.bin": "cifar10", "train-images-idx3-ubyte.gz": "mnist"}

// describePublished returns how the published data set in a folder is read with its own splits, "" if it is not known.
func (t *listing) describePublished(name string) string {
	for _, p := range slices.Concat(t.others, t.folders) {
		for file, preset := range publishedFiles {
			if root, ok := strings.CutSuffix("/"+p, "/"+file); ok && strings.Count(root, "/") < 3 {
				return fmt.Sprintf("has the files of a published data set: winnow data import reads it with its own "+
					"classes and splits by the preset %s, with the root %s", preset, path.Join(cmp.Or(name, "."), root))
			}
		}
	}
	return ""
}
