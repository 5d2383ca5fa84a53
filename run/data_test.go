package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/lookup"
)

// storeOf makes a feature store with 8 values for each image, all equal to the image's row number.
func storeOf(t *testing.T, paths []string, bad []features.Bad) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	key := features.Key{Model: strings.Repeat("a", 64), Output: "pool", Preprocessing: "{}", Views: []string{"center"}}
	w, err := features.Create(dir, features.Plan{Key: key, Paths: paths, Dim: 8, Batch: len(paths), Device: "cpu",
		Winnow: "test"}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	x := features.NewMatrix(len(paths), 8)
	for i := range x.Data {
		x.Data[i] = float32(i / 8)
	}
	if err := w.Append(x, bad); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// read parses the text of a manifest.
func read(t *testing.T, text string) *datasets.Dataset {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.csv")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := datasets.ReadFile(path, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestJoin(t *testing.T) {
	store := storeOf(t, []string{"a", "b", "c", "d", "e", "f"},
		[]features.Bad{{Row: 1, Path: "b", Reason: "half a file"}})
	manifest := "path,label,split,true_label\n" +
		"f,z,validation,z\ne,x,train,x\nd,,train,y\nc,w,train,x\nb,y,train,y\na,x,train,x\n"
	data, err := Load(t.Context(), read(t, manifest), store, false)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{1, -1, 0, 1}; !slices.Equal(data.Train.Labels, want) { // w is 0, x is 1; only b, unreadable, has y
		t.Errorf("labels %v, expected %v", data.Train.Labels, want)
	}
	if !slices.Equal(data.Classes, []string{"w", "x"}) || data.Unlabelled != 1 ||
		!slices.Equal(data.Train.IDs, []int{1, 2, 3, 5}) {
		t.Errorf("classes %v, %d unlabelled, ids %v", data.Classes, data.Unlabelled, data.Train.IDs)
	}
	for i, want := range []float32{4, 3, 2, 0} {
		if got := data.Train.Row(i)[7]; got != want {
			t.Errorf("row %d holds the features of row %v, expected %v", i, got, want)
		}
	}
	if data.Validation.Len() != 1 || data.Validation.Row(0)[0] != 5 {
		t.Errorf("validation %+v", data.Validation)
	}
	if diff := cmp.Diff([]lookup.LeftOut{{Path: "b", Reason: "half a file"}}, data.LeftOut); diff != "" {
		t.Error(diff)
	}
	// change only true labels
	other, err := Load(t.Context(), read(t, strings.ReplaceAll(manifest, ",x\n", ",y\n")), store, false)
	if err != nil || other.Sum != data.Sum || !cmp.Equal(other.Train, data.Train) {
		t.Error("the true labels reach the training data", err)
	}
}

// Load refuses data that cannot train an embedding, with the reason or with advice.
func TestLoadRefuses(t *testing.T) {
	store := storeOf(t, []string{"a", "b", "c"}, []features.Bad{{Row: 2, Path: "c", Reason: "half a file"}})
	for text, want := range map[string][2]string{
		"path,label,split\na,x,train\nb,x,train\n": {"the train split has one class, \"x\"", ""},
		"path,label,split\na,x,test\n":             {"no images in the split \"train\"", ""},
		"path,label,split\nc,x,train\n":            {"split could be read, the first is \"c\": half a file", ""},
		"path,label,split\na,,train\nb,,train\n":   {"none of the 2 images of the train split has a label", ""},
		"path,label,split\na,x,train\nz,y,train\n": {"1 of the 2 train images are not in the store, the first is \"z\"",
			"winnow extract"},
	} {
		if _, err := Load(t.Context(), read(t, text), store, false); err == nil ||
			!strings.Contains(err.Error(), want[0]) || !strings.Contains(hint.Of(err), want[1]) {
			t.Errorf("%q: found %v (%s), expected %q", text, err, hint.Of(err), want)
		}
	}
	if _, err := Load(t.Context(), read(t, "path,label,split\na,x,train\n"), filepath.Join(store, "none"),
		false); hint.Of(err) != "extract the features first: winnow extract" {
		t.Errorf("no store: %v, %q", err, hint.Of(err))
	}
}

// A closed set has a labelled validation split without new classes.
func TestClosed(t *testing.T) {
	store := storeOf(t, []string{"a", "b", "c", "d", "e"}, nil)
	for name, c := range map[string]struct {
		validation string
		want       bool
	}{
		"the same classes":    {"d,x,validation\ne,y,validation\n", true},
		"some of them":        {"d,y,validation\n", true},
		"a new one":           {"d,x,validation\ne,z,validation\n", false},
		"without labels":      {"d,,validation\n", false},
		"no validation split": {"d,x,train\n", false},
	} {
		data, err := Load(t.Context(), read(t, "path,label,split\na,x,train\nb,y,train\nc,x,train\n"+c.validation),
			store, false)
		if err != nil || data.isClosedSet() != c.want {
			t.Errorf("%s: closed %v, %v", name, data.isClosedSet(), err)
		}
	}
}
