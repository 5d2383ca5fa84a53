package backbone

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/features"
)

func mustViews(t testing.TB, text string, seed uint64) []View {
	t.Helper()
	list, err := ParseViews(text, seed)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestRecipesKeepTheirMeaning: stores name the recipe of a view, so a changed recipe needs a new name.
func TestRecipesKeepTheirMeaning(t *testing.T) {
	const colour = `"jitter":[0.4,0.4,0.4,0.1],"jitter_p":0.8,"grey":0.2`
	of := func(crop, exact, pad, scale, flip, rest, colour string) string {
		return `{"crop":"` + crop + `","resize":0,"exact":` + exact + `,"pad":` + pad + `,"scale":` + scale +
			`,"ratio":[0,0],"flip":` + flip + rest + colour + `}`
	}
	const still, plain, any = `,"rotate":0,"shift":0,"zoom":0,`, `"jitter":[0,0,0,0],"jitter_p":0,"grey":0`, "[0,0]"
	for name, want := range map[string]string{
		"prism":           of("random", "true", "0", any, "0.5", still, plain),
		"adapted_triplet": of("random", "true", "0", any, "0", still, plain),
		"supcon":          of("resized", "false", "0", "[0.2,1]", "0.5", still, colour),
		"imagenet":        of("resized", "false", "0", any, "0.5", still, plain),
		"cifar":           of("random", "false", "4", any, "0.5", still, plain),
		"digits":          of("", "false", "0", any, "0", `,"rotate":10,"shift":0.1,"zoom":0.1,`, plain),
	} {
		a, err := ParseAugmentation(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(a); err != nil || string(got) != want {
			t.Errorf("%s (-want +got):\n%s", name, cmp.Diff(want, string(got)))
		}
	}
}

// picturesOf reads the views of images in the given order.
func picturesOf(t testing.TB, cfg ExtractConfig, paths []string) map[string][][]float32 {
	t.Helper()
	files, _ := album(t, 8)
	readers, err := newReaders(cfg, files)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][][]float32{}
	for i, path := range paths {
		views := make([][]float32, len(cfg.configuredViews()))
		for v := range views {
			views[v] = make([]float32, cfg.Preprocessing.Size())
		}
		if err := readers[i%len(readers)].readImageViews(views, path); err != nil {
			t.Fatal(err)
		}
		out[path] = views
	}
	return out
}

// TestViewsDependOnImageAndNameAlone checks that views do not depend on the order, the worker or other views.
func TestViewsDependOnImageAndNameAlone(t *testing.T) {
	_, all := album(t, 8)
	paths := slices.DeleteFunc(all, func(p string) bool { return p == "class/003.jpg" })
	cfg := ExtractConfig{Preprocessing: tiny, Batch: 1, Workers: 2, Views: mustViews(t, "flip+2*prism+1*supcon", 7)}
	one := picturesOf(t, cfg, paths)
	turned := slices.Clone(paths)
	slices.Reverse(turned)
	cfg.Workers = 3
	if diff := cmp.Diff(one, picturesOf(t, cfg, turned)); diff != "" {
		t.Errorf("in another order the views differ:\n%.500s", diff)
	}
	cfg.Views = mustViews(t, "1*supcon+3*prism", 7)
	other := picturesOf(t, cfg, paths)
	cfg.Views = mustViews(t, "1*supcon", 8)
	seeded := picturesOf(t, cfg, paths)
	for _, p := range paths {
		if !slices.Equal(one[p][4], other[p][1]) || !slices.Equal(one[p][2], other[p][2]) ||
			!slices.Equal(one[p][3], other[p][3]) {
			t.Errorf("%s: a view changes if other views are added", p)
		}
		if slices.Equal(one[p][2], one[p][3]) || slices.Equal(other[p][4], one[p][3]) {
			t.Errorf("%s: two random views are equal", p)
		}
		if slices.Equal(one[p][4], seeded[p][1]) {
			t.Errorf("%s: another seed gives the same view", p)
		}
		side := tiny.Crop
		for i, v := range one[p][0] {
			if x := i % side; v != one[p][1][i-x+side-1-x] {
				t.Fatalf("%s: flip is not the mirrored centre", p)
			}
		}
	}
	twin := "class/000.jpg" // two paths to the same file: the random numbers differ
	copied := picturesOf(t, cfg, []string{twin, "class/005.jpg"})
	if !slices.Equal(copied[twin][0], copied["class/005.jpg"][0]) ||
		slices.Equal(copied[twin][1], copied["class/005.jpg"][1]) {
		t.Error("the random numbers do not depend on the path")
	}
}

// viewsTo is like extractTo, with views.
func viewsTo(t testing.TB, dir string, net *sums, cfg ExtractConfig, dtype string) error {
	t.Helper()
	files, paths := album(t, 23)
	p := plan(paths, cfg.Batch)
	p.Key.Views, p.Key.DType = cfg.ViewNames(), dtype
	w, err := features.Create(dir, p, false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := Extract(context.Background(), cfg, net, files, paths, flushing{w}, nil); err != nil {
		return err
	}
	_, err = w.Finish(t.Context())
	return err
}

// TestExtractViews checks that the first view has the bits of a store with one view, that unreadable images are zeros
// in all views, and that a run that stops between the views of a batch and is resumed gives equal bytes.
func TestExtractViews(t *testing.T) {
	cfg := ExtractConfig{Preprocessing: tiny, Batch: 4, Workers: 3}
	single := t.TempDir()
	if err := viewsTo(t, single, newSums(), cfg, ""); err != nil {
		t.Fatal(err)
	}
	one, err := features.Open(single)
	if err != nil {
		t.Fatal(err)
	}
	want, err := one.Read(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Views = mustViews(t, "flip+2*prism", 7)
	for _, dtype := range []string{"", features.Float16} {
		calm := t.TempDir()
		if err := viewsTo(t, calm, newSums(), cfg, dtype); err != nil {
			t.Fatal(err)
		}
		s, err := features.Open(calm)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Read(t.Context(), nil); err != nil || dtype == "" && !slices.Equal(got.Data, want.Data) {
			t.Errorf("the centre differs from a store with one view: %v", err)
		}
		if len(s.Bad) != 3 {
			t.Errorf("unreadable: %v", s.Bad)
		}
		x, err := s.ReadViews(t.Context(), []int{3, 4})
		if err != nil {
			t.Fatal(err)
		}
		for v := range 4 {
			if row := features.Row(x, 2*v); row[0] != 0 || row[1] != 0 {
				t.Errorf("view %d of an unreadable image is %v", v, row)
			}
			if row := features.Row(x, 2*v+1); row[0] == 0 {
				t.Errorf("view %d of a readable image is %v", v, row)
			}
		}
		stopped := errors.New("stopped")
		for _, at := range []int64{2, 7, 12, 15} { // runs of the network: four per batch
			dir := t.TempDir()
			net := newSums()
			net.before = func(run int64) error {
				if run == at {
					return stopped
				}
				return nil
			}
			if err := viewsTo(t, dir, net, cfg, dtype); !errors.Is(err, stopped) {
				t.Fatalf("stopped at run %d: %v", at, err)
			}
			if err := viewsTo(t, dir, newSums(), cfg, dtype); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(storeBytes(t, calm), storeBytes(t, dir)); diff != "" {
				t.Errorf("%q, stopped at run %d (-want +got):\n%.500s", dtype, at, diff)
			}
		}
		another := cfg
		another.Views = mustViews(t, "flip+2*prism", 8)
		dir := t.TempDir()
		if err := viewsTo(t, dir, newSums(), another, dtype); err != nil {
			t.Fatal(err)
		}
		if storeBytes(t, dir)[0] == storeBytes(t, calm)[0] {
			t.Error("another seed gives the same store")
		}
	}
}

func TestViewsThatDoNotFit(t *testing.T) {
	files, paths := album(t, 4)
	small := tiny
	small.Crop = 4
	cfg := ExtractConfig{Preprocessing: small, Batch: 2, Views: mustViews(t, "1*cifar", 1)}
	if err := Extract(t.Context(), cfg, newSums(), files, paths, &counting{}, nil); err == nil ||
		!strings.Contains(err.Error(), "pad is 4, expected less than the network's size of 4") {
		t.Error(err)
	}
}
