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
		`{"version": "5.0", "flags": {}, "shapes": [], "imagePath": "a.jpg"}`:            "is LabelMe's file of one picture",
		`[{"image": "a.jpg", "annotations": [{"label": "x", "coordinates": {"x": 1}}]}]`: "is CreateML's JSON",
		`{"a.jpg12": {"filename": "a.jpg", "regions": [{"shape_attributes": {}, "region_attributes": {}}]}}`: "is of VGG's " +
			"Image Annotator",
		"filename,region_shape_attributes\na.jpg,{}\n":                   "is of VGG's Image Annotator",
		`{"tags": [], "size": {"height": 4, "width": 3}, "objects": []}`: "is Supervisely's file of one picture",
		"\x80\x04\x95\x00": "is a pickle of Python",
		"PK\x03\x04" + strings.Repeat("\x00", 26) + "[Content_Types].xml": "is a workbook of Excel: save its sheet as CSV",
		`<annotation><filename>a.jpg</filename></annotation>`:             "is Pascal VOC's file of one picture",
		`<?xml version="1.0"?><svg></svg>`:                                "is XML with the element svg",
	} {
		if _, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, expected %q", text, err, want)
		}
	}
}
