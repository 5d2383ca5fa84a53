package datasets

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets/location"
)

// mended writes source and mends it by decisions on paths.
func mended(t *testing.T, text string, decisions map[string]Decision) (string, Mended, error) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "m")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := ReadFile(source, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	at := map[int]Decision{}
	for i, s := range d.Samples {
		if what, ok := decisions[s.Path]; ok {
			at[i] = what
		}
	}
	var out bytes.Buffer
	did, err := Mend(&out, location.At(source), d, at)
	return out.String(), did, err
}

func TestMend(t *testing.T) {
	decisions := map[string]Decision{"b.jpg": {Drop: true}, "c.jpg": {Label: "3"}, "d,e.jpg": {Label: "3"},
		"f.jpg": {Label: `say "x, y"`}, "same.jpg": {Label: "2"}}
	delete(decisions, "f.jpg")
	for name, c := range map[string]struct{ text, want string }{
		"csv": {
			"note,Label ,path,split,true_label,label2\n\" a, " +
				"\"\"b\",1,a.jpg,train,1,x\n,\"1\",./b.jpg,test,,y\n\n\"q\nr\", " +
				"1,c.jpg,val,2,\"1\"\nz,\"1\",\"d,e.jpg\",,,\nz,,\"g.jpg\",,,\nlast,2,same.jpg,,,1",
			"note,Label ,path,split,true_label,label2\n\" a, " +
				"\"\"b\",1,a.jpg,train,1,x\n\n\"q\nr\",3,c.jpg,val,2,1\n" +
				"z,3,\"d,e.jpg\",,,\nz,,\"g.jpg\",,,\nlast,2,same.jpg,,,1",
		},
		"label last, marked, windows": {
			"\ufeffpath,label\r\na.jpg,1\r\nb.jpg,1\r\nc.jpg,1\r\n\"d,e.jpg\",\"1\"\r\nsame.jpg,2\r\n\r\n",
			"\ufeffpath,label\r\na.jpg,1\r\nc.jpg,3\r\n\"d,e.jpg\",3\r\nsame.jpg,2\r\n\r\n",
		},
		"prism": {"x/a.jpg,1\r\nb.jpg,1\n\nc.jpg, 1\nd,e.jpg,1\nsame.jpg,2",
			"x/a.jpg,1\r\n\nc.jpg, 3\nd,e.jpg,3\nsame.jpg,2"},
		"jsonl": {
			`{"label": 1, "path":"a.jpg","more":{"label":"z"}}` + "\n" + `{"path":"b.jpg","label":1}` + "\n\n" +
				`{ "x":[1, {"label":2}], "label" : 1 ,"path":"c.jpg"}` + "\r\n" +
				`{"label":"0","path":"d,e.jpg","label":"1"}` + "\n" + `{"path":"same.jpg","label":"2"}`,
			`{"label": 1, "path":"a.jpg","more":{"label":"z"}}` + "\n\n" +
				`{"x": [1, {"label":2}], "label": 3, "path": "c.jpg"}` + "\r\n" +
				`{"label": "3", "path": "d,e.jpg", "label": "3"}` + "\n" + `{"path":"same.jpg","label":"2"}`,
		},
	} {
		got, did, err := mended(t, c.text, decisions)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		changed := 0
		for _, n := range did.Changed {
			changed += n
		}
		if did.Dropped != 1 || did.Relabelled != 2 || changed != 3 ||
			did.Rows != len(read(t, got, ReadOptions{}).Samples) {
			t.Errorf("%s: %+v", name, did)
		}
		if name == "csv" && (did.Changed[Test] != 1 || did.Changed[Validation] != 1 || did.Changed[Train] != 1) {
			t.Errorf("by split: %v", did.Changed)
		}
	}
	got, _, err := mended(t, "path,label\na.jpg,x\n", map[string]Decision{"a.jpg": {Label: `say "x, y"`}})
	if want := "path,label\na.jpg,\"say \"\"x, y\"\"\"\n"; err != nil || got != want {
		t.Errorf("a label to quote: %q, %v", got, err)
	}
	got, _, err = mended(t, `{"path":"a.jpg","label":7}`, map[string]Decision{"a.jpg": {Label: `<"07">`}})
	if want := `{"path": "a.jpg", "label": "<\"07\">"}`; err != nil || got != want {
		t.Errorf("a label that is no number: %q, %v", got, err)
	}
}

func TestMendFolder(t *testing.T) {
	dir := t.TempDir()
	for _, p := range []string{"cat/1.jpg", "cat/2.jpg", "dog/3.jpg"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(p)), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, p), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, err := ReadFile(dir, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	did, err := Mend(&out, location.At(dir), d, map[int]Decision{0: {Drop: true}, 1: {Label: "owl"}})
	if want := "path,label,split\ncat/2.jpg,owl,train\ndog/3.jpg,dog,train\n"; err != nil || out.String() != want ||
		did.Rows != 2 {
		t.Errorf("%q, %+v, %v", out.String(), did, err)
	}
	if form, err := FormOf(location.At(dir)); err != nil || form != CSV {
		t.Errorf("the form is %q, %v", form, err)
	}
}

func TestMendRefuses(t *testing.T) {
	for _, c := range []struct {
		text string
		what Decision
		want string
	}{
		{"a.jpg,1\nb.jpg,1\n", Decision{Label: "a, b"}, `:1: a.jpg: the new label "a, b" cannot stand in a list`},
		{"path,label\na.jpg,1\n", Decision{Label: " one"}, `a.jpg: found the new label " one"`},
		{"path,label\na.jpg,1\n", Decision{Label: ""}, `found the new label ""`},
		{"path,label\na.jpg,1\n", Decision{Drop: true}, "all 1 samples are to be dropped"},
	} {
		if _, _, err := mended(t, c.text, map[string]Decision{"a.jpg": c.what}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, expected %q in it", c.text, err, c.want)
		}
	}
	source := filepath.Join(t.TempDir(), "m")
	for text, want := range map[string]string{
		"path,label\na.jpg,1\nb.jpg,2\n":          "",
		"path,label\na.jpg,1\nb.jpg,1\n":          ":3: \"b.jpg\" with label \"1\" is not what was read before",
		"path,label\na.jpg,1\nc.jpg,2\n":          ":3: \"c.jpg\"",
		"path,label\na.jpg,1\n":                   "found 1 samples, 2 were read before",
		"path,label\na.jpg,1\nb.jpg,2\nb.jpg,2\n": ":4: ",
		"label\n1\n":     "expected the columns path and label",
		"{\"path\":\n":   ":1: ",
		"a.jpg\nb,1,1\n": "",
	} {
		d := read(t, "path,label\na.jpg,1\nb.jpg,2\n", ReadOptions{})
		if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Mend(&bytes.Buffer{}, location.At(source), d, map[int]Decision{0: {Label: "2"}})
		if text == "a.jpg\nb,1,1\n" {
			want = "expected the columns path and label"
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, expected %q in it", text, err, want)
		}
	}
	d := read(t, "path,label\na.jpg,1\n", ReadOptions{})
	if _, err := Mend(&bytes.Buffer{}, location.At(source), d, map[int]Decision{1: {Drop: true}}); err == nil ||
		!strings.Contains(err.Error(), "a decision on sample 1") {
		t.Errorf("a decision on nothing: %v", err)
	}
}

// Read returns the mended copy with the decided changes and no others.
func FuzzMend(f *testing.F) {
	f.Add("path,label,split,true_label\na.jpg,1,train,2\n\"b\n\",\"x\",,\n", 1)
	f.Add("{\"path\":\"a.jpg\",\"label\":3,\"k\":[1]}\n{\"path\":\"b.jpg\",\"label\":\"x\",\"l\":{}}", 0)
	f.Add("/data/a b,c.jpg,7\nb,8", 1)
	f.Add("\ufeffpath,label\r\n\"a\"\"b\",c\r\n\r\nb,d", 1)
	f.Add("pAth,lABel\r\n\"\"\"\",0\r0", 0) // a \r that ends no line
	f.Add("label,path\n0\r0\r,a\n", 0)
	f.Add("path,label\na,0\r", 0)
	f.Fuzz(func(t *testing.T, text string, which int) {
		d, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{})
		if err != nil || which < 0 || which >= len(d.Samples) {
			return
		}
		var out bytes.Buffer
		m := &mender{d: d, decisions: map[int]Decision{which: {Label: "17"}}, did: Mended{Changed: map[string]int{}}}
		if got, err := m.writeCopy(&out, strings.NewReader(text)); err != nil {
			t.Fatalf("%q: %v", text, err)
		} else if got.Rows != len(d.Samples) {
			t.Fatalf("%q: %+v", text, got)
		}
		back, err := ReadManifest(strings.NewReader(out.String()), "m", ReadOptions{})
		if err != nil || len(back.Samples) != len(d.Samples) {
			t.Fatalf("%q became %q: %v", text, out.String(), err)
		}
		for i, s := range d.Samples {
			want := d.className(s.Label)
			if i == which {
				want = "17"
			}
			b := back.Samples[i]
			if b.Path != s.Path || b.Split != s.Split || back.className(b.Label) != want ||
				fmt.Sprint(b.Extra) != fmt.Sprint(s.Extra) {
				t.Fatalf("%q became %q: sample %d is %+v, was %+v", text, out.String(), i, b, s)
			}
		}
	})
}

// A table whose images are named by row is mended by row; every other byte stays.
func TestMendNumbered(t *testing.T) {
	source := filepath.Join(t.TempDir(), "labels.csv")
	if err := os.WriteFile(source, []byte("given_label,true_label,note\r\n4,6,\"a, b\"\r\n9,9,\r\n0,9,x\r\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	d, err := ReadFile(source, ReadOptions{Numbered: true})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	did, err := Mend(&out, location.At(source), d, map[int]Decision{0: {Label: "6"}, 1: {Drop: true}})
	if want := "given_label,true_label,note\r\n6,6,\"a, b\"\r\n0,9,x\r\n"; err != nil || out.String() != want ||
		did.Relabelled != 1 || did.Dropped != 1 {
		t.Errorf("mended %q %+v %v, expected %q", out.String(), did, err, want)
	}
}
