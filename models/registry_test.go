package models

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"winnow/internal/testing/memory"
)

func TestKnown(t *testing.T) {
	names, files := map[string]bool{}, map[string]bool{}
	for _, e := range knownEntries() {
		if err := checkName(e.Name); err != nil {
			t.Error(err)
		}
		if err := e.Preprocessing.Validate(); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		if names[e.Name] || files[e.File] || !filepath.IsLocal(e.File) || e.Source == "" || e.Licence == "" ||
			e.Recipe == "" {
			t.Errorf("%s: a name or file twice, or something left out: %+v", e.Name, e)
		}
		if e.SHA256 != "" && (len(e.SHA256) != 64) {
			t.Errorf("%s: sha256 %q, output %q", e.Name, e.SHA256, e.Output)
		}
		names[e.Name], files[e.File] = true, true
	}
	for name, p := range presets {
		if err := p.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A resize flag takes pixels, or the name of a way to resize.
func TestResizeFlag(t *testing.T) {
	var r Resize
	if err := r.Set("256"); err != nil || r.Pixels == nil || *r.Pixels != 256 || r.Fit != "" {
		t.Errorf("found %+v, %v", r, err)
	}
	if err := r.Set("long"); err != nil || r.Pixels != nil || r.Fit != "long" {
		t.Errorf("found %+v, %v", r, err)
	}
	if err := r.Set("squish"); err == nil || !strings.Contains(err.Error(), `did you mean "squash"?`) ||
		!strings.Contains(err.Error(), "or a number of pixels") {
		t.Errorf("found %v, expected the nearest way and that pixels will do", err)
	}
}

// mine returns an entry for the user's registry.
func mine(name string) Entry {
	return Entry{Name: name, File: "/somewhere/" + name + ".bin", SHA256: Sum([]byte(name)), Output: "pool",
		Preprocessing: presets["clip"]}
}

func open(t *testing.T, path string, folders ...string) *Registry {
	t.Helper()
	r, err := Open(path, folders...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRegistryFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "models.json")
	r := open(t, path)
	if n := len(r.Entries()); n != len(knownEntries()) {
		t.Fatalf("found %d entries in an empty registry, expected the %d known", n, len(knownEntries()))
	}
	for _, name := range []string{"one", "two"} {
		if err := r.addEntry(mine(name)); err != nil {
			t.Fatal(err)
		}
	}
	again := open(t, path)
	if diff := cmp.Diff(r.Entries(), again.Entries()); diff != "" {
		t.Error(diff)
	}
	if got, ok := again.Entry("two"); !ok || !cmp.Equal(got, mine("two")) {
		t.Errorf("found %+v, %v", got, ok)
	}
	for e, want := range map[*Entry]string{
		{Name: "one"}:            `name "one" is taken`,
		{Name: "a/b"}:            "expected a word",
		{Name: "googlenet-bvlc"}: "choose another with --name",
	} {
		if err := again.addEntry(*e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
	if err := again.Remove("one"); err != nil {
		t.Fatal(err)
	}
	if _, ok := open(t, path).Entry("one"); ok {
		t.Error("a removed entry is still there")
	}
	for name, want := range map[string]string{"resnet50": "winnow's own", "one": "no such entry"} {
		if err := again.Remove(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}

// Concurrent additions do not lose each other's entries.
func TestRegistryShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "models.json")
	const writers = 8
	var all errgroup.Group
	for i := range writers {
		r := open(t, path)
		all.Go(func() error { return r.addEntry(mine(fmt.Sprint("model", i))) })
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	again := open(t, path)
	for i := range writers {
		if name := fmt.Sprint("model", i); !again.Own(name) {
			t.Errorf("%s is lost", name)
		}
	}
	stale := open(t, path)
	if err := again.Remove("model1"); err != nil {
		t.Fatal(err)
	}
	if err := stale.Remove("model1"); err == nil || !strings.Contains(err.Error(), "no such entry") {
		t.Errorf("what another removed is removed: %v", err)
	}
}

func FuzzRegistry(f *testing.F) {
	f.Add([]byte(`{"version":1,"models":[{"name":"a","file":"b","sha256":"c",` +
		`"preprocessing":{"crop":1,"scale":1,"channels":"L","interpolation":"bilinear","std":[1,1,1]}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var entries []Entry
		var err error
		memory.Check(t, 16<<20+64*uint64(len(data)), func() { entries, err = parseRegistry(data) })
		if err != nil {
			return
		}
		for _, e := range entries {
			if checkName(e.Name) != nil || e.Preprocessing.Validate() != nil {
				t.Errorf("%+v was let in", e)
			}
		}
	})
}

func TestSettings(t *testing.T) {
	num := func(v int) *int { return &v }
	scale := 1.0
	p, err := Settings{Preset: "caffe", Crop: num(192), Resize: num(200), Mean: []float64{1, 2, 3}, Std: []float64{4},
		Channels: "rgb", Scale: &scale, Interpolation: "lanczos"}.applySettings(presets["imagenet"])
	if err != nil {
		t.Fatal(err)
	}
	want := presets["caffe"]
	want.Crop, want.Resize, want.Mean, want.Std, want.Channels, want.Interpolation = 192, 200, [3]float32{1, 2, 3},
		[3]float32{4, 4, 4}, "RGB", "lanczos"
	if p != want {
		t.Errorf("found %+v, expected %+v", p, want)
	}
	for fit, want := range map[string]string{"squash": "resize to 192×192", "short": "resize the shorter side to 256",
		"long": "resize the longer side to 192"} {
		s := Settings{Fit: fit, Crop: num(192)}
		if p, err := s.applySettings(presets["imagenet"]); err != nil || !strings.HasPrefix(p.Describe(), want) ||
			!s.Shaped() {
			t.Errorf("%s: found %s, %v, expected %s", fit, p.Describe(), err, want)
		}
	}
	zero, yes := 0.0, true
	for want, s := range map[string]Settings{
		`preset "imagnet" is unknown (did you mean "imagenet"?): known are bn-inception, caffe, clip`: {
			Preset: "imagnet"},
		"expected one of them":       {Fit: "long", Exact: &yes},
		"mean: found 2 numbers":      {Mean: []float64{1, 2}},
		"std of channel 0 is 0":      {Std: []float64{0}},
		"crop is -1":                 {Crop: num(-1)},
		"resize is -1":               {Resize: num(-1)},
		`interpolation is "cubic"`:   {Interpolation: "cubic"},
		`channels are "XYZ"`:         {Channels: "xyz"},
		"scale is 0":                 {Scale: &zero},
		"mean of channel 0 is 1e+09": {Mean: []float64{1e9}},
	} {
		if _, err := s.applySettings(presets["imagenet"]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}
