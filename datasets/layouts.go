package datasets

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// PublishedFiles tell by which file the folder of a published data set is recognised, and the preset that reads it with
// its splits.
var PublishedFiles = map[string]string{"image_class_labels.txt": "cub200", "devkit/cars_meta.mat": "cars196",
	"cars_annos.mat": "cars196", "Ebay_train.txt": "sop", "Eval/list_eval_partition.txt": "inshop",
	"list_eval_partition.txt": "inshop", "meta/train.txt": "food101", "setid.mat": "flowers102",
	"annotations/trainval.txt": "pets", "256_ObjectCategories": "caltech256",
	"places365_train_standard.txt": "places365", "train2017.json": "inat2017",
	"meta/verified_train.tsv": "food101n", "datalist/CARSN_train.csv": "cars98n",
	"data_batch_1.bin": "cifar10", "train-images-idx3-ubyte.gz": "mnist"}

// describePublished returns how a published data set is read with its own splits, "" if the folder holds none that is
// known.
func (t *listing) describePublished(name string) string {
	for _, p := range slices.Concat(t.others, t.folders) {
		for file, preset := range PublishedFiles {
			if root, ok := strings.CutSuffix("/"+p, "/"+file); ok && strings.Count(root, "/") < 3 {
				return fmt.Sprintf("has the files of a published data set: winnow data import reads it with its "+
					"own classes and splits by the preset %s, with the root %s", preset, path.Join(name, root))
			}
		}
	}
	return ""
}

// refuseFamousSet returns an error for published data sets that are no classes of pictures, with what to do.
func (t *listing) refuseFamousSet(name string) error {
	has := func(names []string, want func(lower string) bool) bool {
		return slices.ContainsFunc(names, func(p string) bool { return want(strings.ToLower(path.Base(p))) })
	}
	switch {
	case has(t.folders, func(s string) bool { return s == "wider_face_split" || strings.HasPrefix(s, "wider_t") }):
		return fmt.Errorf("datasets: %s: found WIDER FACE, whose boxes are faces without names: to read its events as "+
			"classes, give the folder WIDER_train/images", name)
	case has(t.others, func(s string) bool {
		return strings.HasPrefix(s, "list_attr_celeba") || strings.HasPrefix(s, "identity_celeba")
	}):
		return fmt.Errorf("datasets: %s: found CelebA, whose persons are in a list: give identity_CelebA.txt, and the "+
			"folder img_align_celeba as the root of its paths", name)
	}
	return nil
}
