package published

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"winnow/datasets"
)

// inShop is DeepFashion's In-Shop Clothes Retrieval benchmark. Its test images are queries and a gallery: each
// query searches for images of the same article in the gallery, never among the queries.
//
// The list is next to the images or in Eval/; the images are in img/ or Img/img/, as its archives unpack.
//
// Source: Liu et al., "DeepFashion", CVPR 2016. The counts of queries and gallery are the usually cited ones.
var inShop = Preset{
	Name: "inshop", Title: "In-Shop Clothes Retrieval of DeepFashion (Liu et al. 2016)",
	Files: inShopLists(), Default: Official, Read: readInShop,
	Protocols: map[string]Protocol{
		Official: {Note: "the publisher's: half the classes train, the others are queries and gallery",
			Counts: inShopCounts()},
		half: {Note: "the same as official", Counts: inShopCounts()},
	},
}

func inShopLists() []string {
	return []string{"list_eval_partition.txt", "Eval/list_eval_partition.txt"}
}

func inShopCounts() []count {
	return []count{{datasets.Train, 25882, 3997}, {datasets.Query, 14218, 3985}, {datasets.Gallery, 12612, 3985}}
}

// readInShop reads the list: the number of images, a header, then image, item and split per line. The class is the
// item: id_00000002 is class 2.
func readInShop(fsys fs.FS, _ Options) ([]sample, error) {
	below := ""
	if !isFolder(fsys, "img") && isFolder(fsys, "Img/img") {
		below = "Img"
	}
	said := 0
	var samples []sample
	err := eachLine(fsys, func(number int, line string) error {
		fields := strings.Fields(line)
		switch number {
		case 1:
			n, err := strconv.Atoi(line)
			if err != nil {
				return fmt.Errorf("found %.80q, expected the number of images", line)
			}
			said = n
			return nil
		case 2:
			if strings.Join(fields, " ") != "image_name item_id evaluation_status" {
				return fmt.Errorf("header is %.80q, expected image_name item_id evaluation_status", line)
			}
			return nil
		}
		if len(fields) != 3 {
			return fmt.Errorf("found %d fields, expected image_name item_id evaluation_status", len(fields))
		}
		digits, ok := strings.CutPrefix(fields[1], "id_")
		class, err := strconv.Atoi(digits)
		if !ok || err != nil || class < 0 {
			return fmt.Errorf("item_id %.80q is not of the form id_00000002", fields[1])
		}
		if s := fields[2]; s != datasets.Train && s != datasets.Query && s != datasets.Gallery {
			return fmt.Errorf("evaluation_status %.80q is unknown, expected train, query or gallery", s)
		}
		if err := inRoot(fields[0]); err != nil {
			return err
		}
		samples = append(samples, sample{Path: path.Join(below, fields[0]), Class: class, Label: fields[1],
			Split: fields[2]})
		return nil
	}, inShopLists()...)
	if err == nil && len(samples) != said {
		err = fmt.Errorf("list_eval_partition.txt: found %d images, its first line says %d", len(samples), said)
	}
	return samples, err
}
