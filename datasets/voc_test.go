package datasets

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const vocXML = `<annotation><folder>VOC2007</folder><filename>%s.jpg</filename>
<size><width>100</width><height>80</height><depth>3</depth></size>
<object><name>dog</name><difficult>1</difficult>
<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>20</xmax><ymax>30</ymax></bndbox></object>
<object><name>car</name><part><name>wheel</name>
<bndbox><xmin>9</xmin><ymin>9</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></part>
<bndbox><ymin>71</ymin><xmin>91</xmin><xmax>100</xmax><ymax>80</ymax></bndbox></object></annotation>`

func vocTree() fstest.MapFS {
	tree := fstest.MapFS{}
	for _, key := range []string{"000001", "000002", "000003"} {
		tree["VOCdevkit/VOC2007/Annotations/"+key+".xml"] = &fstest.MapFile{Data: fmt.Appendf(nil, vocXML, key)}
		tree["VOCdevkit/VOC2007/JPEGImages/"+key+".jpg"] = &fstest.MapFile{}
	}
	tree["VOCdevkit/VOC2007/ImageSets/Main/train.txt"] = &fstest.MapFile{Data: []byte("000001\n\n")}
	tree["VOCdevkit/VOC2007/ImageSets/Main/val.txt"] = &fstest.MapFile{Data: []byte("000003\r\n")}
	tree["VOCdevkit/VOC2007/ImageSets/Main/dog_train.txt"] = &fstest.MapFile{Data: []byte("000002 -1\n")}
	return tree
}

func TestReadVOC(t *testing.T) {
	var said []string
	opts := ReadOptions{Note: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }}
	d, err := ReadFolders(vocTree(), "voc", opts)
	if err != nil {
		t.Fatal(err)
	}
	const images = "VOCdevkit/VOC2007/JPEGImages/"
	want := &Dataset{Classes: []string{"car", "dog"}, Columns: []string{"object", "difficult"}, Samples: []Sample{
		{Path: images + "000001.jpg#xywh=0:0:20:30&id=1", Label: 1, True: Unlabelled, Split: Train,
			Extra: []string{"1", "1"}},
		{Path: images + "000001.jpg#xywh=90:70:10:10&id=2", Label: 0, True: Unlabelled, Split: Train,
			Extra: []string{"2", ""}},
		{Path: images + "000003.jpg#xywh=0:0:20:30&id=1", Label: 1, True: Unlabelled, Split: Validation,
			Extra: []string{"1", "1"}},
		{Path: images + "000003.jpg#xywh=90:70:10:10&id=2", Label: 0, True: Unlabelled, Split: Validation,
			Extra: []string{"2", ""}},
	}}
	want.Reading = &Reading{Form: "boxes of Pascal VOC", Left: []Left{{"no picture", ".txt", 3},
		{"no picture", ".xml", 1},
		{"not in the lists of ImageSets/Main", "pictures", 1}}, Empty: []string{}, Alike: [][]string{}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if n := len(said); n != 2 || !strings.Contains(said[1], "1 picture (not in the lists of ImageSets/Main)") {
		t.Errorf("said %q", said)
	}
	if d, err = ReadFolders(vocTree(), "voc", ReadOptions{MinBox: 11, CropMargin: 0.1}); err != nil ||
		len(d.Samples) != 2 || d.Samples[0].Path != images+"000001.jpg#xywh=0:0:22:33&id=1" {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestVOCErrors(t *testing.T) {
	for want, spoil := range map[string]func(fstest.MapFS){
		"000001.xml: object 1: found no name or no bndbox": func(m fstest.MapFS) { change(m, "<name>dog</name>", "") },
		"000001.xml: object 1: bbox [0 0 NaN 30]":          func(m fstest.MapFS) { change(m, "<xmax>20<", "<xmax>NaN<") },
		"000001.xml: XML syntax error":                     func(m fstest.MapFS) { change(m, "</annotation>", "") },
		`image "000001" is in two splits`: func(m fstest.MapFS) {
			m["VOCdevkit/VOC2007/ImageSets/Main/test.txt"] = &fstest.MapFile{Data: []byte("000001\n")}
		},
	} {
		tree := vocTree()
		spoil(tree)
		d, err := ReadFolders(tree, "voc", ReadOptions{})
		if got := notRead(d, err); !strings.Contains(got, want) {
			t.Errorf("%q, expected %q", got, want)
		}
	}
	if _, err := ReadFolders(vocTree(), "voc", ReadOptions{CropMargin: -1}); err == nil {
		t.Error("a negative margin passed")
	}
}

func change(m fstest.MapFS, from, to string) {
	f := m["VOCdevkit/VOC2007/Annotations/000001.xml"]
	f.Data = []byte(strings.Replace(string(f.Data), from, to, 1))
}

func FuzzVOC(f *testing.F) {
	f.Add(fmt.Appendf(nil, vocXML, "a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tree := vocTree()
		tree["VOCdevkit/VOC2007/Annotations/000001.xml"].Data = data
		d, err := ReadFolders(tree, "voc", ReadOptions{})
		if err != nil {
			return
		}
		for _, s := range d.Samples {
			if _, _, ok := CutCrop(s.Path); !ok {
				t.Errorf("%q names no crop", s.Path)
			}
		}
	})
}
