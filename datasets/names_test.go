package datasets

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// oddNames are names that programs tend to change or to confuse.
var oddNames = []string{"tench", "tench ", " tench", "Tench", "caf\u00e9", "cafe\u0301", "1", "1.0", "01", "nan",
	"None", "null", "a,b", `q"t`, "x;y", "tab\tx", "fish", "\ufb01sh", "#1", "-", "0x1", "true"}

// Class names stay unchanged from the folder to the manifest and from the manifest to its copy, in every format.
func TestNamesAreKept(t *testing.T) {
	var files []string
	for _, n := range oddNames {
		files = append(files, n+"/1.jpg", n+"/ 2 .jpg")
	}
	dir := folderOf(t, files...)
	opts, told := noted()
	d, err := ReadFile(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(slices.Values(oddNames))
	if diff := cmp.Diff(want, d.Classes); diff != "" {
		t.Errorf("folders (-want +got):\n%s", diff)
	}
	for _, twins := range []string{`" tench" and "Tench" and "tench" and "tench "`, `"01" and "1" and "1.0"`,
		`"cafe\u0301" and "caf` + "\u00e9" + `"`, `"fish" and "` + "\ufb01" + `sh"`} {
		if !strings.Contains(strings.Join(*told, "\n"), "similar labels kept as different classes: "+twins) {
			t.Errorf("told %q, expected %s", *told, twins)
		}
	}
	for _, name := range []string{"m.csv", "metadata.csv"} {
		out := filepath.Join(t.TempDir(), name)
		if err := WriteFile(out, d, nil); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		from := out
		if strings.HasPrefix(name, "metadata") {
			from = filepath.Dir(out)
		}
		again, err := ReadFile(from, ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(d.Classes, again.Classes); diff != "" || len(again.Reading.Alike) != 4 {
			t.Errorf("%s (-want +got): %+v\n%s", name, again.Reading, diff)
		}
		if diff := cmp.Diff(d.Samples, again.Samples); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for i := range again.Samples { // relabel with every similar name
			other := again.Classes[(again.Samples[i].Label+1)%len(again.Classes)]
			fixed, _, err := fixAt(from, again, map[int]Decision{i: {Label: other}})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			copied := read(t, fixed, ReadOptions{})
			for k, s := range copied.Samples {
				want := again.className(again.Samples[k].Label)
				if k == i {
					want = other
				}
				if got := copied.className(s.Label); got != want {
					t.Fatalf("%s: %s became %q, expected %q", name, s.Path, got, want)
				}
			}
		}
	}
}
