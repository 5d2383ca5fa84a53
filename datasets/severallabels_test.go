package datasets

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/internal/jsontext"
)

// Rows with several labels are left out, and names of classes that hold separators stay.
func TestSeveralLabels(t *testing.T) {
	for _, c := range []struct{ text, classes, said string }{
		{`["tench"];["church"];["tench"]`, "church tench", ""},
		{`['tench'];church`, "church tench", ""},
		{`["tench", "people"];["church"]`, "church", `1 row (with several labels, such as "[\"tench\", \"people\"]")`},
		{`[];church;{"a": 1};[{"label": "x"}]`, "church", "3 rows (with JSON in place of a label"},
		{`[3];4`, "3 4", ""},
		{`tench|people;church`, "church", "1 row (with several labels"},
		{`tench,people;tench;church`, "church tench", `such as "tench,people"`},
		{`tench, people;tench;church`, "church tench", `such as "tench, people"`},
		{`tench + people;tench`, "tench tench + people", ""},
		{`crane, bird;crane, machine;stork`, "crane, bird crane, machine stork", ""},
		{`missile;projectile, missile;tench, Tinca tinca;hen-of-the-woods, hen of the woods, Polyporus frondosus;cock`,
			"cock hen-of-the-woods, hen of the woods, Polyporus frondosus missile projectile, missile tench, Tinca tinca", ""},
		{`a,b;b,c;a,c;d`, "d", "3 rows (with several labels"},
		{`[PAD];x`, "[PAD] x", ""},
	} {
		var csv, lines strings.Builder
		csv.WriteString("path,label\n")
		for i, label := range strings.Split(c.text, ";") {
			name := string(rune('a'+i)) + ".jpg"
			csv.WriteString(name + "," + quoteField(label, ',') + "\n")
			lines.WriteString(`{"path": "` + name + `", "label": ` + string(jsontext.Quote(label)) + "}\n")
		}
		for _, text := range []string{csv.String(), lines.String()} {
			opts, told := noted()
			d := read(t, text, opts)
			if got := strings.Join(d.Classes, " "); got != c.classes ||
				!strings.Contains(strings.Join(*told, "\n"), c.said) || c.said == "" && len(*told) > 0 {
				t.Errorf("%s: classes %q, told %q, expected %q and %q", text, got, *told, c.classes, c.said)
			}
		}
	}
	if _, err := ReadManifest(strings.NewReader("path,label\na,x|y\nb,\"[\"\"x\"\", \"\"y\"\"]\"\n"), "m",
		ReadOptions{}); err == nil || !strings.Contains(err.Error(), "several labels") {
		t.Errorf("all rows: %v", err)
	}
	d := read(t, `{"images": [{"id": 1, "file_name": "a.jpg"}, {"id": 2, "file_name": "b.jpg"}], "annotations": [`+
		`{"id": 1, "image_id": 1, "category_id": 1}, {"id": 2, "image_id": 1, "category_id": 2}, `+
		`{"id": 3, "image_id": 2, "category_id": 2}], "categories": [{"id": 1, "name": "x"}, {"id": 2, "name": "y"}]}`,
		ReadOptions{})
	if len(d.Samples) != 1 || d.Samples[0].Path != "b.jpg" || len(d.Reading.Left) != 1 {
		t.Errorf("COCO without boxes: %+v, left %+v", d.Samples, d.Reading.Left)
	}
}

// Boxes are found by the names of their columns, in CSV, JSON lines and lists of objects, or refused.
func TestBoxHeaders(t *testing.T) {
	const crop = "a.jpg#xywh=10:10:60:50&id=1"
	for columns, values := range map[string]string{
		"xmin,ymin,xmax,ymax": "10,10,70,60", "xmin,xmax,ymin,ymax": "10,70,10,60", "x1,y1,w,h": "10,10,60,50",
		"x0,y0,x1,y1": "10,10,70,60", "minX,minY,maxX,maxY": "10,10,70,60",
		"X_Center,Y_Center,Width,Height": "40,35,60,50",
		"xcenter,ycenter,w,h":            "40,35,60,50", "cx,cy,w,h": "40,35,60,50",
		"bbox_x,bbox_y,bbox_w,bbox_h": "10,10,60,50",
		"Roi.X1,Roi.Y1,Roi.X2,Roi.Y2": "10,10,70,60", "startX,startY,endX,endY": "10,10,70,60",
		"left,top,right,bottom": "10,10,70,60", "left,top,width,height": "10,10,60,50",
		"top_left_x,top_left_y,bottom_right_x,bottom_right_y": "10,10,70,60",
		"width,height,x1,y1,x2,y2":                            "200,200,10,10,70,60",
		"bbox_xywh":                                           `"[10, 10, 60, 50]"`, "bbox_xyxy": "10 10 70 60", "box_cxcywh": `"(40,35,60,50)"`,
		"bbox": "", "bounding_box": "", "boxes": "", "objects": "", "bbox_0,bbox_1,bbox_2,bbox_3": "10,10,70,60",
		"xmin,ymin,dx,dy": "10,10,60,50", "x1,y1,x2,y2,x3,y3,x4,y4": "1,1,9,1,9,9,1,9",
	} {
		refused := strings.HasPrefix(columns, "bbox_0") || strings.Contains(columns, "dx") ||
			strings.Contains(columns, "x4")
		if values == "" {
			values, refused = `"[10, 10, 70, 60]"`, true
		}
		d, err := ReadManifest(strings.NewReader("path,label,"+columns+"\na.jpg,x,"+values+"\n"), "m", ReadOptions{})
		if refused {
			if err == nil || !strings.Contains(err.Error(), "box") {
				t.Errorf("%s: %v, expected an error", columns, err)
			}
			continue
		}
		if err != nil || d.Samples[0].Path != crop {
			t.Errorf("%s: %v %+v, expected %s", columns, err, d, crop)
		}
	}
	for _, text := range []string{
		`{"image": "a.jpg", "label": "x", "xmin": 10, "ymin": 10, "xmax": 70, "ymax": 60}`,
		`[{"image": "a.jpg", "label": "x", "bbox_xywh": [10, 10, 60, 50]}]`,
	} {
		if d := read(t, text, ReadOptions{}); d.Samples[0].Path != crop {
			t.Errorf("%s: %+v", text, d.Samples)
		}
	}
	for _, text := range []string{`[{"image": "a.jpg", "label": "x", "objects": {"bbox": [[1, 2, 3, 4]], "category": [1]}}]`,
		`{"image": "a.jpg", "label": "x", "bbox": [1, 2, 3, 4]}`} {
		if _, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{}); err == nil {
			t.Errorf("%s: read without its boxes", text)
		}
	}
	if d := read(t, "image,label,box\na.jpg,x,A12\n", ReadOptions{}); d.Samples[0].Path != "a.jpg" {
		t.Errorf("a column box that holds none: %+v", d.Samples)
	}
	d := read(
		t,
		`{"images": [{"id": 1, "file_name": "a.jpg", "width": 100, "height": 100}], "annotations": [{"id": 1, `+
			`"image_id": 1, "category_id": 1, "bbox": [0.1, 0.1, 0.6, 0.5]}], "categories": [{"id": 1, "name": "x"}]}`,
		ReadOptions{},
	)
	if d.Samples[0].Path != crop {
		t.Errorf("shares in COCO's boxes: %+v", d.Samples)
	}
}

// Lists of objects are read, tables of pandas in other orientations are named, and so is a column that is taken for
// the label or the split.
func TestOtherTables(t *testing.T) {
	for text, want := range map[string]string{
		`[{"image": "a.jpg", "label": "x"}, {"image": "b.jpg", "label": "y"}]`:           "a.jpg x train,b.jpg y train",
		"[\n  {\n    \"path\": \"a.jpg\",\n    \"label\": 3\n  }\n]\n":                   "a.jpg 3 train",
		"image,breed\na.jpg,beagle\n":                                                    "a.jpg beagle train",
		"Image,Id\na.jpg,w_1\n":                                                          "a.jpg w_1 train",
		`[{"image": "a.jpg", "breed": "beagle"}]`:                                        "a.jpg beagle train",
		"filepaths,labels,data set\na.jpg,x,train\nb.jpg,y,test\nc.jpg,y,valid\n":        "a.jpg x train,b.jpg y test,c.jpg y validation",
		`{"path": "a.jpg", "label": "x", "subset": "test"}`:                              "a.jpg x test",
		"path,label,fold\na.jpg,x,3\n":                                                   "a.jpg x train",
		`{"image": {"0": "a.jpg"}, "label": {"0": "x"}}`:                                 "! orient",
		`{"0": {"image": "a.jpg", "label": "x"}, "1": {"image": "b.jpg", "label": "y"}}`: "! orient",
		`{"columns": ["image", "label"], "index": [0], "data": [["a.jpg", "x"]]}`:        "! orient",
		`{"image": ["a.jpg"], "label": ["x"]}`:                                           "! orient",
		`[{"image": "a.jpg", "label": "x"}, {"image"`:                                    "! ends early",
		`[{"image": "a.jpg", "label": "x"}] x`:                                           "! more after",
		"image,caption\na.jpg,a dog\n":                                                   "! expected the columns",
	} {
		opts, told := noted()
		d, err := ReadManifest(strings.NewReader(text), "m", opts)
		if refused, ok := strings.CutPrefix(want, "! "); ok {
			if err == nil || !strings.Contains(err.Error(), refused) {
				t.Errorf("%s: %v, expected %q", text, err, refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, s := range d.Samples {
			got = append(got, s.Path+" "+d.LabelName(s)+" "+s.Split)
		}
		if diff := cmp.Diff(want, strings.Join(got, ",")); diff != "" {
			t.Errorf("%s: told %q (-want +got):\n%s", text, *told, diff)
		}
		if strings.Contains(text, "breed") && !slices.ContainsFunc(*told, func(s string) bool {
			return strings.Contains(s, `"breed" for the label`)
		}) {
			t.Errorf("%s: told %q", text, *told)
		}
	}
}
