package datasets

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/regular"

	"winnow/internal/jsontext"
)

// magics are the first bytes of files that people have next to a manifest.
var magics = []struct {
	at   int
	text string
	what string
}{
	{257, "ustar", "a tar archive"},
	{30, "[Content_Types].xml", "a workbook of Excel: save its sheet as CSV"},
	{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a document of Microsoft Office: save its sheet as CSV"},
	{0, "PK\x03\x04", "a zip archive"},
	{0, "\x80\x02", "a pickle of Python"}, {0, "\x80\x03", "a pickle of Python"}, {0, "\x80\x04", "a pickle of Python"},
	{0, "\x80\x05", "a pickle of Python"},
	{0, "\x1f\x8b", "compressed by gzip, as a .tar.gz is: unpack it"},
	{0, "\x28\xb5\x2f\xfd", "compressed by zstd"},
	{0, "\xfd7zXZ", "compressed by xz"},
	{0, "BZh", "compressed by bzip2"},
	{0, "7z\xbc\xaf", "a 7z archive"},
	{0, "PAR1", "a Parquet file"},
	{0, "ARROW1", "an Arrow file" + convertArrow},
	{0, "\xff\xff\xff\xff", "a stream of Arrow" + convertArrow},
	{16, "\xde\xc0\xef\xbe", "an LMDB database" + convertLMDB},
	{0, "SQLite format 3\x00", "an SQLite database"},
	{0, "\x89HDF", "an HDF5 file"},
	{0, "\x93NUMPY", "a NumPy array"},
	{0, "MATLAB 5.0 MAT-file", "a MATLAB file"},
	{0, "\x89PNG", "a PNG image"},
	{0, "\xff\xd8\xff", "a JPEG image"},
	{0, "GIF8", "a GIF image"},
	{0, "%PDF", "a PDF document"},
}

// What converts the files of other libraries.
const (
	convertArrow = " (datasets.load_from_disk(DIR).to_parquet(FILE), of Hugging Face's library, converts what " +
		"save_to_disk wrote)"
	convertLMDB = " (write its pictures into folders, one a class, or into .tar shards: Python's packages lmdb and " +
		"webdataset do it)"
	convertRecords = " (write its pictures into folders, one a class, or into .tar shards: tensorflow and Python's " +
		"package webdataset do it)"
)

// isRecords reports whether a file begins as TFRecord: a length, and its check sum.
func isRecords(head []byte) bool {
	if len(head) < 12 {
		return false
	}
	sum := crc32.Checksum(head[:8], crc32.MakeTable(crc32.Castagnoli))
	return binary.LittleEndian.Uint32(head[8:]) == sum>>15|sum<<17+0xa282ead8
}

// refuseForeignStore returns an error that names what a folder without images holds: a data set of another library.
func (t *listing) refuseForeignStore(name string) error {
	for _, p := range t.others {
		base, what := strings.ToLower(path.Base(p)), ""
		switch {
		case base == "data.mdb" || base == "lock.mdb":
			what = "an LMDB database" + convertLMDB
		case path.Ext(base) == ".arrow":
			what = "Arrow files" + convertArrow
		case strings.Contains(base, ".tfrecord"):
			what = "TFRecord files" + convertRecords
		default:
			continue
		}
		return fmt.Errorf("datasets: %s: found no image but %s, the first %s, expected folders of images, a list, "+
			"or .tar or .parquet shards", name, what, p)
	}
	return nil
}

// magicOf names the type of a file with this beginning, "" if it is none of those that people have.
func magicOf(head []byte) string {
	for _, m := range magics {
		if len(head) > m.at && bytes.HasPrefix(head[m.at:], []byte(m.text)) {
			return m.what
		}
	}
	return ""
}

// refuseForeignType returns an error that names the file type if head is not the start of a text.
func refuseForeignType(head []byte) error {
	const expected = "expected a manifest (CSV, JSON lines or a list path,label) in UTF-8, or a folder of images"
	if err := regular.Pointer(head); err != nil {
		return err
	}
	if isRecords(head) {
		return fmt.Errorf("is a TFRecord file%s, %s", convertRecords, expected)
	}
	if what := otherDocument(head); what != "" {
		return fmt.Errorf("is %s", what)
	}
	if what := magicOf(head); what != "" {
		return fmt.Errorf("is %s, %s", what, expected)
	}
	if bytes.Count(head, []byte("\r")) > 1 && !bytes.ContainsRune(head, '\n') {
		return fmt.Errorf("has rows that end in \\r alone: save it again, or convert it by tr '\\r' '\\n'")
	}
	if at := bytes.IndexByte(head, 0); at >= 0 {
		return fmt.Errorf("is not text (byte %d is 0), %s", at+1, expected)
	}
	return nil
}

// otherDocument names JSON or XML that holds no list of labelled pictures, by its beginning, and what to do; "" if it
// is none.
func otherDocument(head []byte) string {
	if root := rootElement(head); root == "annotation" {
		return "Pascal VOC's file of one picture: name the folder"
	} else if root == "annotations" {
		return "CVAT's XML, which winnow does not read: export the task as COCO"
	} else if root != "" {
		return fmt.Sprintf("XML with the element %.40s, which winnow does not read: export it as COCO", root)
	}
	keys := jsontext.Keys(head)
	list := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	if rest, ok := bytes.CutPrefix(list, []byte("[")); ok {
		keys = jsontext.Keys(bytes.TrimLeft(rest, " \t\r\n"))
		if keys["image_id"] != 0 && (keys["score"] != 0 || keys["caption"] != 0) {
			return "a list of a model's results in COCO's form, without the pictures' names: take the annotations " +
				"that they were made for, such as instances_val2017.json"
		}
		if keys["image"] == '"' && keys["annotations"] == '[' {
			return "CreateML's JSON, which winnow does not read: convert it to COCO, as Roboflow does"
		}
		return ""
	}
	first, _, _ := strings.Cut(string(list), "\n")
	switch {
	case keys["_via_img_metadata"] != 0 || bytes.Contains(head, []byte(`"region_attributes"`)) ||
		strings.Contains(first, "region_shape_attributes"):
		return "of VGG's Image Annotator (VIA), which winnow does not read: export the project as COCO"
	case keys["categories"] == '{' && keys["images"] == 0 || keys["items"] == '[' && keys["info"] == '{':
		return "Datumaro's JSON, which winnow does not read: export the project as COCO"
	case keys["objects"] == '[' && keys["size"] == '{':
		return "Supervisely's file of one picture, which winnow does not read: export the project as COCO or YOLO"
	case keys["annotations"] == '[' && bytes.Contains(head, []byte(`"segments_info"`)):
		return panoptic
	case keys["columns"] == '[' && keys["data"] == '[' || keys["schema"] == '{' && keys["data"] == '[':
		return pandas
	case len(keys) > 0 && isColumns(keys):
		return pandas
	case keys["shapes"] == '[' && (keys["imagePath"] != 0 || keys["imageData"] != 0 || keys["flags"] != 0):
		return "LabelMe's file of one picture: name the folder"
	}
	return ""
}

// pandas is what to do with a table that pandas wrote in another orientation.
const pandas = "a table in an orientation of pandas that winnow does not read: write it with to_json(FILE, " +
	"orient=\"records\"), or to_csv(FILE, index=False)"

// isColumns reports whether an object with these keys holds a table by its columns or by its rows: its values are
// objects or lists, and its keys are the names of columns or numbers.
func isColumns(keys map[string]byte) bool {
	names := slices.Collect(maps.Keys(keys))
	at, _, err := ReadOptions{}.findColumns(names)
	named := err == nil && at[pathColumn] >= 0 && at[labelColumn] >= 0
	for key, first := range keys {
		if _, err := strconv.Atoi(key); first != '{' && (first != '[' || !named) || err != nil && !named {
			return false
		}
	}
	return true
}

// What files of COCO's are that label no boxes.
const (
	panoptic = "COCO's panoptic segmentation, whose segments are in PNG files: convert it with panopticapi's " +
		"panoptic2detection_coco_format.py, or take the instances of the same pictures, such as instances_val2017.json"
	captions = "COCO's captions, which name no class: take the instances of the same pictures, such as " +
		"instances_val2017.json"
)
