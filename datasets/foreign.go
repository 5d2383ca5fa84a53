package datasets

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
)

// magics are the first bytes of files that people have next to a manifest.
var magics = []struct {
	at   int
	text string
	what string
}{
	{257, "ustar", "a tar archive"},
	{0, "PK\x03\x04", "a zip archive"},
	{0, "\x1f\x8b", "compressed by gzip"},
	{0, "\x28\xb5\x2f\xfd", "compressed by zstd"},
	{0, "\xfd7zXZ", "compressed by xz"},
	{0, "BZh", "compressed by bzip2"},
	{0, "7z\xbc\xaf", "a 7z archive"},
	{0, "PAR1", "a Parquet file"},
	{0, "ARROW1", "an Arrow file"},
	{0, "SQLite format 3\x00", "an SQLite database"},
	{0, "\x89HDF", "an HDF5 file"},
	{0, "\x93NUMPY", "a NumPy array"},
	{0, "MATLAB 5.0 MAT-file", "a MATLAB file"},
	{0, "\x89PNG", "a PNG image"},
	{0, "\xff\xd8\xff", "a JPEG image"},
	{0, "GIF8", "a GIF image"},
	{0, "%PDF", "a PDF document"},
}

// foreign returns an error that names the file type if head is not the start of a text.
func foreign(head []byte) error {
	const expected = "expected a manifest (CSV, JSON lines or a list path,label) in UTF-8, or a folder of images"
	if what := container(head); what != "" {
		return fmt.Errorf("is %s", what)
	}
	if what := otherDocument(head); what != "" {
		return fmt.Errorf("is %s", what)
	}
	for _, m := range magics {
		if len(head) > m.at && bytes.HasPrefix(head[m.at:], []byte(m.text)) {
			return fmt.Errorf("is %s, %s", m.what, expected)
		}
	}
	if at := bytes.IndexByte(head, 0); at >= 0 {
		return fmt.Errorf("is not text (byte %d is 0), %s", at+1, expected)
	}
	return nil
}

// container names a file of pictures that other programs read, by its beginning, and the way to files that are read
// here; "" if it is none.
func container(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("version https://git-lfs.github.com/spec/")):
		return "a pointer of Git LFS, not the file itself: fetch that with git lfs pull"
	case len(head) >= 20 && bytes.Equal(head[16:20], []byte("\xde\xc0\xef\xbe")):
		return "an LMDB database: write its pictures into folders with the lmdb package of Python"
	case len(head) >= 8 && bytes.Equal(head[:4], []byte("\xff\xff\xff\xff")) && head[6] == 0 && head[7] == 0:
		return "an Arrow stream, as save_to_disk of Hugging Face's datasets writes it: convert the folder with " +
			"datasets.load_from_disk(DIR).to_parquet(FILE)"
	case isTFRecord(head):
		return "a TFRecord file: write its pictures into folders with tf.data.TFRecordDataset of TensorFlow"
	}
	return ""
}

// isTFRecord reports whether a file begins with the length of a record and its masked CRC-32C.
func isTFRecord(head []byte) bool {
	if len(head) < 12 {
		return false
	}
	sum := crc32.Checksum(head[:8], crc32.MakeTable(crc32.Castagnoli))
	return (sum>>15|sum<<17)+0xa282ead8 == binary.LittleEndian.Uint32(head[8:])
}

// otherDocument names JSON or XML that holds no list of labelled pictures, by its beginning, and what to do; "" if it
// is none.
func otherDocument(head []byte) string {
	if root := rootElement(head); root == "annotation" {
		return "Pascal VOC's file of one picture: name the folder"
	} else if root != "" && root != "annotations" {
		return fmt.Sprintf("XML with the element %.40s, expected annotations of CVAT for images 1.1", root)
	}
	keys := topKeys(head)
	list := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	if rest, ok := bytes.CutPrefix(list, []byte("[")); ok {
		keys = topKeys(bytes.TrimLeft(rest, " \t\r\n"))
		if keys["image_id"] != 0 && (keys["score"] != 0 || keys["caption"] != 0) {
			return "a list of a model's results in COCO's form, without the pictures' names: take the annotations " +
				"that they were made for, such as instances_val2017.json"
		}
		return ""
	}
	switch {
	case keys["annotations"] == '[' && bytes.Contains(head, []byte(`"segments_info"`)):
		return panoptic
	case keys["shapes"] == '[' && (keys["imagePath"] != 0 || keys["imageData"] != 0 || keys["flags"] != 0):
		return "LabelMe's file of one picture: name the folder"
	}
	return ""
}

// What files of COCO's are that label no boxes.
const (
	panoptic = "COCO's panoptic segmentation, whose segments are in PNG files: convert it with panopticapi's " +
		"panoptic2detection_coco_format.py, or take the instances of the same pictures, such as instances_val2017.json"
	captions = "COCO's captions, which name no class: take the instances of the same pictures, such as " +
		"instances_val2017.json"
)

// foreignFolder returns an error if a folder without pictures holds those of another program.
func (t *listing) foreignFolder() error {
	for _, p := range t.others[:min(len(t.others), mostGathered)] {
		head, err := headOf(t.fsys, p)
		if err != nil {
			return err
		}
		if what := container(head); what != "" && !strings.HasSuffix(p, ".md") {
			return fmt.Errorf("%s: is %s", p, what)
		}
	}
	return nil
}
