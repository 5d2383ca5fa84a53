package datasets

import (
	"strings"
	"testing"
	"testing/fstest"
)

// Files of other programs are refused by their own names, with what to do.
func TestForeignByName(t *testing.T) {
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
	record := "\x18\x00\x00\x00\x00\x00\x00\x00\xa3\x7f\x4b\x22"
	lmdb := strings.Repeat("\x00", 16) + "\xde\xc0\xef\xbe\x01\x00\x00\x00"
	arrow := "\xff\xff\xff\xff\x70\x01\x00\x00\x10\x00\x00\x00"
	long := strings.Repeat(" ", 5000)
	for text, want := range map[string]string{
		pointer: "is a pointer of Git LFS",
		record:  "is a TFRecord file",
		lmdb:    "is an LMDB database",
		arrow:   "is an Arrow stream, as save_to_disk",
		`{"info": {}, "images": [{"id": 1, "file_name": "a.jpg"}], "annotations": [{"image_id": 1, "id": 2,
			"caption": "a heron"}]}`: "is COCO's captions",
		`{"images": [{"id": 1, "file_name": "a.jpg"}],` + long + `"annotations": [{"image_id": 1, "file_name": "a.png",
			"segments_info": [{"id": 7, "category_id": 1}]}], "categories": []}`: "is COCO's panoptic segmentation",
		"\n[ {\"image_id\": 1, \"category_id\": 2, \"bbox\": [1, 2, 3, 4], \"score\": 0.5}]": "a list of a model's results",
		`[{"image_id":1,"category_id":2,"score":0.5,"segmentation":[[` + strings.Repeat("1,", 5000) + `1]]}]`: "a list of a " +
			"model's results",
		`{"version": "5.0", "flags": {}, "shapes": [], "imagePath": "a.jpg"}`: "is LabelMe's file of one picture",
		`<annotation><filename>a.jpg</filename></annotation>`:                 "is Pascal VOC's file of one picture",
		`<?xml version="1.0"?><svg></svg>`:                                    "is XML with the element svg",
	} {
		if _, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, expected %q", text, err, want)
		}
	}
	for name, text := range map[string]string{"data-00000-of-00001.arrow": arrow, "train.tfrecord-00000": record,
		"data.mdb": lmdb, "a/1.bin": pointer} {
		folder := fstest.MapFS{name: {Data: []byte(text)}, "state.json": {Data: []byte("{}")}}
		_, err := ReadFolders(folder, "m", ReadOptions{})
		if err == nil || !strings.Contains(err.Error(), "m: "+name+": is a") {
			t.Errorf("%s in a folder: %v", name, err)
		}
	}
}
