package datasets

import (
	"strings"
	"testing"
)

// Documents of other programs are refused by their own names, with what to do.
func TestOtherDocuments(t *testing.T) {
	long := strings.Repeat(" ", 5000)
	for text, want := range map[string]string{
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
}
