package datasets

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"winnow/internal/jsontext"
	"winnow/internal/regular"
)

// magics are the first bytes of files that people have next to a manifest.
var magics = []struct{ text, what string }{
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a document of Microsoft Office: save its sheet as CSV"},
	{"PK\x03\x04", "a zip archive, or a workbook of Excel: save its sheet as CSV"},
	{"\x1f\x8b", "compressed by gzip, as a .tar.gz is: unpack it"},
	{"PAR1", "a Parquet file"},
	{"ARROW1", "an Arrow file: write it with to_parquet"},
	{"\x89PNG", "a PNG image"},
	{"\xff\xd8\xff", "a JPEG image"},
}

// refuseForeignType returns an error that names the file type if head is not the start of a manifest.
func refuseForeignType(head []byte) error {
	const expected = "expected a manifest (CSV, JSON lines or a list path,label) in UTF-8, or a folder of images"
	if err := regular.Pointer(head); err != nil {
		return err
	}
	if what := otherDocument(head); what != "" {
		return fmt.Errorf("is %s", what)
	}
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.text)) {
			return fmt.Errorf("is %s, %s", m.what, expected)
		}
	}
	if at := bytes.IndexByte(head, 0); at >= 0 {
		return fmt.Errorf("is not text (byte %d is 0), %s", at+1, expected)
	}
	return nil
}

// otherDocument names JSON or XML that holds no list of labelled pictures, by its beginning, and what to do; "" if it
// is none.
func otherDocument(head []byte) string {
	switch root := rootElement(head); root {
	case "":
	case "annotation":
		return "Pascal VOC's file of one picture: name the folder"
	default:
		return fmt.Sprintf("XML with the element %.40s, as of CVAT, which winnow does not read: export it as COCO",
			root)
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	keys := jsontext.Keys(text)
	if rest, ok := bytes.CutPrefix(text, []byte("[")); ok {
		keys = jsontext.Keys(bytes.TrimLeft(rest, " \t\r\n"))
		if keys["image_id"] != 0 && (keys["score"] != 0 || keys["caption"] != 0) {
			return "a list of a model's results in COCO's form: take the annotations that they were made for, such " +
				"as instances_val2017.json"
		}
		return ""
	}
	switch {
	case isFiftyOne(head):
		return "FiftyOne's labels, which winnow does not read: export the dataset as COCO or as folders of classes"
	case keys["categories"] == '{' && keys["images"] == 0 || keys["items"] == '[' && keys["info"] == '{':
		return "Datumaro's JSON, which winnow does not read: export the project as COCO"
	case keys["columns"] == '[' && keys["data"] == '[' || keys["schema"] == '{' && keys["data"] == '[':
		return pandas
	case keys["shapes"] == '[' && (keys["imagePath"] != 0 || keys["imageData"] != 0 || keys["flags"] != 0):
		return "LabelMe's file of one picture: name the folder"
	}
	names := []string{}
	for key, first := range keys {
		if first != '{' && first != '[' {
			return ""
		}
		names = append(names, key)
	}
	if at, _, _ := (ReadOptions{}).findColumns(names); keys["0"] == '{' || at[pathColumn] >= 0 && at[labelColumn] >= 0 {
		return pandas // columns, or rows by their numbers
	}
	return ""
}

// pandas is what to do with a table that pandas wrote in another orientation.
const pandas = "a table in an orientation of pandas that winnow does not read: write it with to_json(FILE, " +
	"orient=\"records\"), or to_csv(FILE, index=False)"

// nameLists names the first files of a folder that may list its labels.
func (t *listing) nameLists() string {
	var found []string
	for _, p := range t.others {
		if strings.HasSuffix(p, ".csv") || strings.HasSuffix(p, ".json") || strings.HasSuffix(p, ".txt") {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return ", or give the list that holds its labels, if that is " + shortList(found)
}

// inUTF8 returns an error if a text is in another encoding.
func inUTF8(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return fmt.Errorf("found %.80q, expected UTF-8: save the file so (in Excel as CSV UTF-8), or convert it: "+
		"iconv -f latin1 -t utf-8", text)
}
