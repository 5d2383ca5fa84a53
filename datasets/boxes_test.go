package datasets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets/location"
)

// described lists the samples and what was left out.
func described(d *Dataset) (list []string) {
	for _, s := range d.Samples {
		file, c, cropped := CutCrop(s.Path)
		at := ""
		if cropped {
			at = fmt.Sprintf(" %d,%d,%d,%d", c.X, c.Y, c.W, c.H)
		}
		list = append(list, fmt.Sprintf("%s%s %s %s", file, at, d.LabelName(s), s.Split))
	}
	if d.Reading != nil {
		for _, l := range d.Reading.Left {
			list = append(list, fmt.Sprintf("left %d %s %s", l.Files, l.Of, l.Reason))
		}
	}
	return list
}

// A file that describes many pictures is read alone, beside its pictures or with them in a folder near it, and mended:
// its first box gets the label of the second, the third is dropped, all other values and the order of keys stay.
func TestGathered(t *testing.T) {
	for name, c := range map[string]struct {
		file, text, mended string
		in                 map[string]string // how the pictures lie around it, with the folder of the first
		want               []string
	}{
		"FiftyOne's labels": {"labels.json", `{"classes": ["a", "c", "e"], "labels": { "1": 0, "2":1 ,` + "\n" +
			`"3": 2, "4": null}}` + "\n", `{"classes": ["a", "c", "e"], "labels": { "1": 1, "2":1, "4": null}}` + "\n",
			map[string]string{"labels.json": "data/"},
			[]string{"1.png a train", "2.png c train", "3.png e train", "4.png  train"}},
		"FiftyOne's names": {"labels.json", `{"classes": null, "labels": {"1": {"label": "a", "confidence": 0.5}, ` +
			`"2": "c","3":"e"}}`, `{"classes": null, "labels": {"1": {"label": "c", "confidence": 0.5}, "2": "c"}}`,
			map[string]string{"labels.json": "data/"}, []string{"1.png a train", "2.png c train", "3.png e train"}},
		"FiftyOne's samples": {"samples.json", `{"samples": [{"filepath": "data/1.png", "tags": ["x", "val"],
"ground_truth": {"_cls": "Classification", "label": "a"}, "predictions": {"_cls": "Classification", "label": "z"}},
{"filepath": "data/2.png", "ground_truth": {"label": "c", "_cls": "Classification"}},{"filepath": "data/3.png",
"ground_truth": {"_cls": "Classification", "label": "e"}}, {"filepath": "data/4.png", "ground_truth": null}]}`,
			`{"samples": [{"filepath": "data/1.png", "tags": ["x", "val"],
"ground_truth": {"_cls": "Classification", "label": "c"}, "predictions": {"_cls": "Classification", "label": "z"}},
{"filepath": "data/2.png", "ground_truth": {"label": "c", "_cls": "Classification"}}, {"filepath": "data/4.png", ` +
				`"ground_truth": null}]}`, map[string]string{"samples.json": "data/"},
			[]string{"1.png a validation", "2.png c train", "3.png e train", "left 1 shapes without a label"}},
		"FiftyOne's boxes": {"samples.json", `{"samples": [{"filepath": "data/1.png", "metadata": null, "boxes":
{"_cls":
"Detections", "detections": [{"_cls": "Detection", "label": "a", "bounding_box": [0.05, 0.2, 0.2, 0.4]},
{"label": "c", "bounding_box": [0, 0, 1, 1]}, {"label": "e", "bounding_box": [0.5, 0.5, 0.5, 0.5]}]}}]}`,
			`{"samples": [{"filepath": "data/1.png", "metadata": null, "boxes":
{"_cls":
"Detections", "detections": [{"_cls": "Detection", "label": "c", "bounding_box": [0.05, 0.2, 0.2, 0.4]},
{"label": "c", "bounding_box": [0, 0, 1, 1]}]}}]}`, map[string]string{"samples.json": "data/"},
			[]string{"1.png 10,20,40,40 a train", "1.png 0,0,200,100 c train", "1.png 100,50,100,50 e train"}},
	} {
		for at, below := range c.in {
			files := map[string]string{at: c.text}
			for _, p := range []string{"1.png", "2.png", "3.png", "4.png"} {
				files[below+p] = ""
			}
			dir := onDisk(t, files)
			d, err := Read(location.At(dir), ReadOptions{})
			if err != nil {
				t.Fatalf("%s: %s: %v", name, at, err)
			}
			var want []string
			for _, s := range c.want {
				if !strings.HasPrefix(s, "left") {
					s = below + s
				}
				want = append(want, s)
			}
			got := described(d)
			if diff := cmp.Diff(want, sortedLefts(got, want)); diff != "" {
				t.Errorf("%s: %s: -want +got:\n%s", name, at, diff)
			}
			to := filepath.Join(t.TempDir(), "mended")
			do := map[int]Decision{0: {Label: d.LabelName(d.Samples[1])}, 2: {Drop: true}}
			if _, err := MendFolder(t.Context(), to, location.At(dir), d, do); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(compacted(map[string]string{at: c.mended}), compacted(filesIn(t, to))); diff != "" {
				t.Errorf("%s: %s: mended -want +got:\n%s", name, at, diff)
			}

			alone := location.At(filepath.Join(dir, filepath.FromSlash(at)))
			if d, err = Read(alone, ReadOptions{}); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			_, err = Mend(&out, alone, d, do)
			if diff := cmp.Diff(compacted(map[string]string{"": c.mended}), compacted(map[string]string{"": out.String()})); err != nil || diff != "" {
				t.Errorf("%s: %s: alone: %v\n%s", name, at, err, diff)
			}
			if filepath.Dir(alone.Path()) == dir { // its folder is the root
				if _, err := os.Stat(filepath.Join(dir, strings.Split(d.Samples[0].Path, "#")[0])); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// compacted returns files of JSON without white space, and others as they are.
func compacted(files map[string]string) map[string]string {
	for name, text := range files {
		var out bytes.Buffer
		if json.Compact(&out, []byte(text)) == nil {
			files[name] = out.String()
		}
	}
	return files
}

// sortedLefts puts what was left out into the order of want.
func sortedLefts(got, want []string) []string {
	n := 0
	for n < len(got) && !strings.HasPrefix(got[n], "left") {
		n++
	}
	list := got[:n:n]
	for _, w := range want {
		for _, g := range got[n:] {
			if g == w {
				list = append(list, g)
			}
		}
	}
	if len(list) < len(got) {
		return got
	}
	return list
}

// notRead returns an error, or what was read but for what could not be.
func notRead(d *Dataset, err error) string {
	if err != nil {
		return err.Error()
	}
	var list []string
	for _, u := range d.Reading.Unread {
		list = append(list, fmt.Sprintf("%d samples; %s", len(d.Samples), u))
	}
	return strings.Join(list, "\n")
}

// A damaged file is refused in a line; a picture or an object that cannot be read is left out, and the same line is in
// the reading. Forms that are not read are named.
func TestGatheredErrors(t *testing.T) {
	const labels = `{"classes": ["a", "c"], "labels": {"1": 0, "2": [{"label": 1, "bounding_box": [0.1, 0.1, 0.5, 0.5]}]}}`
	for _, c := range [][2]string{
		{"1 samples; 1, object 1: found the class 7, expected 0 to 1", strings.Replace(strings.Replace(labels, `"1": 0`,
			`"1": 7`, 1), `[{"label": 1, "bounding_box": [0.1, 0.1, 0.5, 0.5]}]`, "0", 1)},
		{"1 samples; 2, object 1: found 3 numbers in bounding_box", strings.Replace(labels, "[0.1, ", "[", 1)},
		{"1 samples; 2, object 1: its box is given as shares", labels},
		{"m: ", labels[:len(labels)/2]},
		{"CVAT's XML, which winnow does not read: export the task as COCO", `<annotations><image id="0" name="a"/></annotations>`},
		{"Datumaro's JSON, which winnow does not read: export the project as COCO",
			`{"info": {}, "categories": {"label": {"labels": [{"name": "a"}]}}, "items": []}`},
	} {
		d, err := ReadManifest(strings.NewReader(c[1]), "m", ReadOptions{})
		if got := notRead(d, err); !strings.Contains(got, c[0]) {
			t.Errorf("%q, expected %q", got, c[0])
		}
	}
}

// Any file gives an error, or boxes in their pictures and a copy without changes that is read as it is.
func FuzzGathered(f *testing.F) {
	f.Add([]byte(`{"classes": ["a"], "labels": {"1": 0, "2": null, "3": {"label": "b"}}}`))
	f.Add([]byte(`{"samples": [{"filepath": "1", "f": {"_cls": "Classification", "label": "a"}}, {"filepath": "2",
		"f": {"_cls": "Detections", "detections": [{"label": "b", "bounding_box": [0, 0, 1, 1]}]}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ReadManifest(bytes.NewReader(data), "m", ReadOptions{})
		if err != nil || d.Reading == nil || !boxForm(d.Reading.Form) {
			return
		}
		source := filepath.Join(t.TempDir(), "m")
		if err := os.WriteFile(source, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := Mend(&out, location.At(source), d, nil); err == nil {
			again, err := ReadManifest(&out, "m", ReadOptions{})
			if err != nil || !cmp.Equal(d.Samples, again.Samples) {
				t.Errorf("%q was copied as %q: %v", data, out.String(), err)
			}
		}
		last := len(d.Samples) - 1
		for _, what := range []Decision{{Drop: true}, {Label: d.Classes[0]}} {
			_, _ = Mend(&out, location.At(source), d, map[int]Decision{last: what})
		}
	})
}
