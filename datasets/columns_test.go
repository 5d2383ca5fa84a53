package datasets

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Foreign tables are read by their own column names, and one line tells what was guessed.
func TestOtherColumns(t *testing.T) {
	samples := []Sample{{Path: "a.jpg", Label: 0, True: Unlabelled, Split: Train},
		{Path: "b.jpg", Label: 1, True: Unlabelled, Split: Train}}
	for text, said := range map[string]string{
		"path,label\na.jpg,x\nb.jpg,y\n":     "",
		"filename,class\na.jpg,x\nb.jpg,y\n": `took the column "filename" for the path and "class" for the label`,
		"image,label\na.jpg,x\nb.jpg,y\n":    `took the column "image" for the path (`,
		"path,category\na.jpg,x\nb.jpg,y\n":  `took the column "category" for the label (`,
		"\ufeffFile Name,Class-Name\r\n" +
			"a.jpg,x\r\nb.jpg,y\r\n": `"File Name" for the path and "Class-Name" for the label`,
		"file_name\tlabel\na.jpg\tx\nb.jpg\ty\n": `"file_name" for the path`,
		"path\tlabel\n\"a.jpg\"\tx\nb.jpg\ty\n":  "",

		"{\"file_name\":\"a.jpg\",\"label\":\"x\"}\n" +
			"{\"file_name\":\"b.jpg\",\"label\":\"y\"}": `"file_name" for the path`,
	} {
		var told []string
		d := read(t, text, ReadOptions{Note: func(format string, args ...any) {
			told = append(told, fmt.Sprintf(format, args...))
		}})
		if diff := cmp.Diff(&Dataset{Classes: []string{"x", "y"}, Samples: samples}, d); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
		if got := strings.Join(told, "\n"); (got == "") != (said == "") || !strings.Contains(got, said) ||
			strings.Contains(got, "\n") {
			t.Errorf("%q: told %q, expected %q", text, got, said)
		}
	}
}

// Named columns take precedence over winnow's own, which become other columns; JSON lines behave the same.
func TestNamedColumns(t *testing.T) {
	want := &Dataset{
		Classes: []string{"x", "y"}, Columns: []string{"other_label"},
		Samples: []Sample{{Path: "a.jpg", Label: 0, True: 1, Split: Test, Extra: []string{"7"}},
			{Path: "b.jpg", Label: 1, True: Unlabelled, Split: Train, Extra: []string{"8"}}},
	}
	opts := ReadOptions{Names: Names{Path: "photo", Label: "noisy", Split: "Part", True: "clean"}}
	for _, text := range []string{
		"photo,label,noisy,part,clean\na.jpg,7,x,test,y\nb.jpg,8,y,,\n",
		"photo\tlabel\tnoisy\tpart\tclean\na.jpg\t7\tx\ttest\ty\nb.jpg\t8\ty\t\t\n",
		`{"photo":"a.jpg","label":7,"noisy":"x","part":"test","clean":"y"}` + "\n" +
			`{"photo":"b.jpg","label":8,"noisy":"y","part":null,"clean":null}`,
	} {
		d := read(t, text, opts)
		if d.Names != opts.Names {
			t.Errorf("%q: kept the names %+v, expected those asked for, by which a copy is mended", text, d.Names)
		}
		d.Names = Names{}
		if diff := cmp.Diff(want, d); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
		var out bytes.Buffer
		if err := WriteCSV(&out, d); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, read(t, out.String(), ReadOptions{})); diff != "" {
			t.Errorf("written and read again (-want +got):\n%s", diff)
		}
	}
}

func TestWrongColumns(t *testing.T) {
	for _, c := range []struct {
		text  string
		names Names
		want  string
	}{
		{"photo,kind,age\na.jpg,x,1\n", Names{},
			`m:1: header is "photo,kind,age", expected the columns path and label ("photo" is the path), or others ` +
				`named by --path-column and --label-column (winnow data import, audit and review)`},
		{"plate,kind\na.jpg,x\n", Names{}, `m:1: header is "plate,kind", expected the columns path and label, or ` +
			`others named by --path-column and`},
		{"photo\tcaption\na.jpg\tx\n", Names{}, `m:1: header is "photo,caption", expected`},
		{"photo,kind\na.jpg,x\n", Names{Path: "phto", Label: "kind"},
			`m:1: header is "photo,kind", expected the column "phto" for the path (did you mean "photo"?)`},
		{"photo,kind\na.jpg,x\n", Names{Path: "kind", Label: "kind"},
			`m:1: column "kind" is named for the path and for the label`},
		{"{\"photo\":\"a.jpg\",\"kind\":1,\"x\":1}", Names{}, `m:1: found the keys kind, photo, x, no key "label", expected`},
		{"{\"photo\":\"a.jpg\",\"kind\":1}", Names{Label: "king"}, `(did you mean "kind"?)`},
		{"path,label,other_label,more\na.jpg,1,2,x\n", Names{Label: "more"}, `m:1: column "other_label" appears twice`},
		{"{\"path\":\"a.jpg\",\"label\":1,\"other_label\":1,\"more\":2}", Names{Label: "more"},
			`m:1: key "other_label" appears twice`},
	} {
		if _, err := ReadManifest(strings.NewReader(c.text), "m", ReadOptions{Names: c.names}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, expected %q in it", c.text, err, c.want)
		}
	}
	if _, err := ReadManifest(strings.NewReader("a.jpg,1\n"), "m",
		ReadOptions{Format: PRISM, Names: Names{Path: "x"}}); err == nil ||
		!strings.Contains(err.Error(), "found column names, expected none") {
		t.Errorf("names for a list without a header: %v", err)
	}
	if _, err := ReadFile(t.TempDir(), ReadOptions{Names: Names{Path: "x"}}); err == nil ||
		!strings.Contains(err.Error(), "not a table") {
		t.Errorf("names for a folder: %v", err)
	}
}

// A mended copy keeps the names, the tabs and all other bytes.
func TestMendOtherColumns(t *testing.T) {
	decisions := map[string]Decision{"b.jpg": {Drop: true}, "c.jpg": {Label: "3"}, "d.jpg": {Label: "a\tb"}}
	for text, want := range map[string]string{
		"n\tclass\tfilename\nx,y\t1\ta.jpg\n\t1\tb.jpg\r\n\"q\tr\"\t\"1\"\tc.jpg\n\t " +
			"1\td.jpg\n": "n\tclass\tfilename\nx,y\t1\ta.jpg\n\"q\tr\"\t3\tc.jpg\n\t\"a\tb\"\td.jpg\n",
		"{\"file_name\":\"b.jpg\",\"class\":1}\n{\"file_name\":\"c.jpg\",\"class\": " +
			"1}\n": "{\"file_name\": \"c.jpg\", \"class\": 3}\n",
	} {
		if got, _, err := mended(t, text, decisions); err != nil || got != want {
			t.Errorf("%q became %q, %v, expected %q", text, got, err, want)
		}
	}
}

// A source read with any column names is written as a manifest that reads the same.
func FuzzNamedColumns(f *testing.F) {
	f.Add("filename,class\na.jpg,1\n", "", "", "", "")
	f.Add("photo\tlabel\tnoisy\tpart\na.jpg\t7\tx\ttest\n", "photo", "noisy", "part", "label")
	f.Add("{\"Path\":\"a.jpg\",\"path\":\"b.jpg\",\"label\":3,\"k\":[1]}", "Path", "k", "", "")
	f.Fuzz(func(t *testing.T, text, path, label, split, truth string) {
		d, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{Names: Names{path, label, split, truth}})
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := WriteCSV(&out, d); err != nil {
			t.Fatal(err)
		}
		again, err := ReadManifest(&out, "m", ReadOptions{Format: CSV})
		if err != nil || len(again.Samples) != len(d.Samples) {
			t.Fatalf("%d samples, written and read again: %v", len(d.Samples), err)
		}
	})
}

// BenchmarkMillion reads a table of a million rows by guessed names. Long: go test ./datasets -run none -bench
// Million -benchtime 1x
func BenchmarkMillion(b *testing.B) {
	for form, row := range map[string]string{"csv": "images/%07d.jpg,%d\n", "tsv": "images/%07d.jpg\t%d\n",
		"jsonl": "{\"file_name\":\"images/%07d.jpg\",\"class\":%d}\n"} {
		var text strings.Builder
		switch form {
		case "csv":
			text.WriteString("file_name,class\n")
		case "tsv":
			text.WriteString("file_name\tclass\n")
		}
		for i := range 1_000_000 {
			fmt.Fprintf(&text, row, i, i%1000)
		}
		b.Run(form, func(b *testing.B) {
			for b.Loop() {
				if d, err := ReadManifest(strings.NewReader(text.String()), "m", ReadOptions{}); err != nil ||
					len(d.Samples) != 1_000_000 {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMillionMerged joins two datasets of half a million images each.
func BenchmarkMillionMerged(b *testing.B) {
	var parts []*Dataset
	for part := range 2 {
		var text strings.Builder
		text.WriteString("file_name,class\n")
		for i := range 500_000 {
			fmt.Fprintf(&text, "images%d/%07d.jpg,%d\n", part, i, i%1000)
		}
		d, err := ReadManifest(strings.NewReader(text.String()), "m", ReadOptions{})
		if err != nil {
			b.Fatal(err)
		}
		parts = append(parts, d)
	}
	for b.Loop() {
		if d := Merge(parts...); len(d.Samples) != 1_000_000 {
			b.Fatal(len(d.Samples))
		}
	}
}

// A table without a column of labels has one for each class, or is refused.
func TestOneHot(t *testing.T) {
	opts, told := noted()
	d := read(t, "image,MEL,NV,split\nISIC_1,1.0,0.0,train\nISIC_2,0,1,test\nISIC_3,0,0,train\n", opts)
	var got []string
	for _, s := range d.Samples {
		got = append(got, s.Path+" "+d.LabelName(s)+" "+s.Split)
	}
	if diff := cmp.Diff("ISIC_1 MEL train,ISIC_2 NV test,ISIC_3  train", strings.Join(got, ",")); diff != "" ||
		!strings.Contains(strings.Join(*told, "\n"), "read as a column for each class: MEL, NV") {
		t.Errorf("told %q (-want +got):\n%s", *told, diff)
	}
	for text, want := range map[string]string{
		"image,a,b\n1.jpg,1,1\n":            `with several labels`,
		"image,a,b\n1.jpg,cat,0.5\n":        "expected the columns path and label",
		"image,a,b\n1.jpg,1,0\n2.jpg,x,0\n": `m:3: is of another form: found "x" in the column "a", expected 0 or 1`,
	} {
		if _, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", text, err, want)
		}
	}
}

// Excel writes commas for columns that once were used, and rows of them: the columns stay, rows of empty cells are left
// out and counted, and a mended copy has both.
func TestEmptyColumnsAndRows(t *testing.T) {
	const text = "path,label,,\r\na.jpg,x,,\r\n,,,\r\nb.jpg,y,,1\r\n,,,\r\n"
	said := ""
	d, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{Note: func(format string, args ...any) {
		said += fmt.Sprintf(format, args...)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"", "column_4"}, d.Columns); diff != "" || len(d.Samples) != 2 ||
		said != "m: left out: 2 rows (of empty cells)" || d.Reading.Left[0].Files != 2 {
		t.Errorf("%q, %+v, said %q", d.Columns, d.Samples, said)
	}
	got, _, err := mended(t, text, map[string]Decision{"a.jpg": {Label: "y"}})
	if want := strings.Replace(text, "x", "y", 1); err != nil || got != want {
		t.Errorf("mended: %q, %v", got, err)
	}
}
