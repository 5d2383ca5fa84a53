package extraction

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/models"
)

// album is a folder of images that glyphnet embeds; seen is the number of embedded images.
type album struct {
	*testing.T
	dir, out string
	host     Host
	seen     int
	told     string
}

func newAlbum(t *testing.T, n int) *album {
	rt := orttest.Runtime(t)
	a := &album{T: t, dir: t.TempDir(), out: filepath.Join(t.TempDir(), "features")}
	a.host = Host{Runtime: func() (*ort.Runtime, error) { return rt, nil },
		Note: func(f string, args ...any) { a.told += fmt.Sprintf(f, args...) + "\n" },
		Images: func() (func(backbone.Progress), func()) {
			before := a.seen
			return func(p backbone.Progress) { a.seen = before + p.Done - p.Resumed }, func() {}
		}}
	for i := range n {
		a.draw(i, i)
	}
	return a
}

func (a *album) path(i int) string { return fmt.Sprintf("%02d.png", i) }

// draw writes image i as a stroke at an angle; all files have the same size.
func (a *album) draw(i, angle int) {
	a.Helper()
	m := image.NewGray(image.Rect(0, 0, 32, 32))
	for r := range 28 {
		s, c := math.Sincos(float64(angle) / 7)
		m.SetGray(16+int(float64(r-14)*c), 16+int(float64(r-14)*s), color.Gray{255})
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, m); err != nil {
		a.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(a.dir, a.path(i)), b.Bytes(), 0o644); err != nil {
		a.Fatal(err)
	}
}

// extraction returns an extraction of the images in the folder.
func (a *album) extraction(out string) *Extraction {
	a.Helper()
	e := &Extraction{Out: out, Config: backbone.ExtractConfig{Batch: 4, Workers: 1}}
	var err error
	if e.Root, err = imageroot.Open(a.Context(), location.At(a.dir)); err != nil {
		a.Fatal(err)
	}
	files, err := os.ReadDir(a.dir)
	if err != nil {
		a.Fatal(err)
	}
	for _, f := range files {
		e.Paths = append(e.Paths, f.Name())
	}
	if e.Model, e.Cut, err = OpenBackbone("glyphnet", models.Settings{}); err != nil {
		a.Fatal(err)
	}
	e.Config.Preprocessing = e.Model.Preprocessing
	return e
}

func (a *album) update(ctx context.Context) (Result, error) {
	a.Helper()
	a.seen, a.told = 0, ""
	return a.extraction(a.out).Update(ctx, a.host)
}

// want updates the store and checks the number of embedded images, that the store equals one made without
// interruptions, and that no other files are left.
func (a *album) want(looked int, told string) {
	a.Helper()
	r, err := a.update(a.Context())
	if err != nil {
		a.Fatal(err)
	}
	if a.seen != looked || r.Rows-r.Resumed != looked || r.Complete != (looked == 0) || !strings.Contains(a.told,
		told) {
		a.Errorf("%d embedded, %d of %d rows resumed, complete %v, expected %d embedded and %q: %s", a.seen,
			r.Resumed, r.Rows, r.Complete, looked, told, a.told)
	}
	fresh := a.extraction(filepath.Join(a.TempDir(), "again"))
	whole, err := fresh.Store(a.Context(), a.host)
	if err != nil {
		a.Fatal(err)
	}
	s, err := features.Open(a.out)
	if err != nil {
		a.Fatal(err)
	}
	x, err1 := s.Read(a.Context(), nil)
	y, err2 := whole.Read(a.Context(), nil)
	if err := errors.Join(err1, err2, s.Verify(a.Context())); err != nil {
		a.Fatal(err)
	}
	if !slices.Equal(s.Paths, whole.Paths) || len(s.Bad) != len(whole.Bad) {
		a.Fatalf("%d paths and %v, expected %d and %v", len(s.Paths), s.Bad, len(whole.Paths), whole.Bad)
	}
	kept, err1 := a.extraction(a.out).Looks(a.Context(), s, nil)
	made, err2 := fresh.Looks(a.Context(), whole, nil)
	if diff := cmp.Diff(made, kept); err1 != nil || err2 != nil || diff != "" {
		a.Errorf("%v, %v: measurements differ (-at once +kept):\n%s", err1, err2, diff)
	}
	for i, v := range x.Data {
		if math.Abs(float64(v-y.Data[i])) > 1e-4 {
			a.Fatalf("%s: value %v, without interruptions %v", s.Paths[i/x.Cols], v, y.Data[i])
		}
	}
	for _, name := range []string{a.out + ".new", filepath.Join(a.out, "seen.json.part"),
		filepath.Join(a.out, "features.npy.part"), filepath.Join(a.out, "progress.json")} {
		if _, err := os.Stat(name); err == nil {
			a.Errorf("%s is left", name)
		}
	}
}

// Update embeds only the images that were added or changed.
func TestUpdate(t *testing.T) {
	a := newAlbum(t, 20)
	a.want(20, "")
	a.want(0, "")
	a.draw(20, 20)
	a.want(1, "1 image added (the first is 20.png) since the features were made")
	if err := os.Remove(filepath.Join(a.dir, a.path(3))); err != nil {
		t.Fatal(err)
	}
	a.want(0, "1 image removed since")
	a.draw(5, 55)
	a.want(1, "1 image changed (the first is 05.png) since")
	past := time.Now().Add(-time.Hour)
	a.draw(6, 66) // the same size, and older than the store, like a file moved from another folder
	if err := os.Chtimes(filepath.Join(a.dir, a.path(6)), past, past); err != nil {
		t.Fatal(err)
	}
	a.want(1, "1 image changed")
	if err := os.WriteFile(filepath.Join(a.dir, a.path(0)), []byte("no picture"), 0o644); err != nil {
		t.Fatal(err)
	}
	a.want(1, "1 image changed (the first is 00.png)") // the only image to embed cannot be read
	a.draw(0, 0)
	a.draw(3, 33)
	if err := os.Remove(filepath.Join(a.dir, a.path(7))); err != nil {
		t.Fatal(err)
	}
	a.want(2, "1 image added (the first is 03.png); 1 image changed (the first is 00.png); 1 image removed since")
}

// An update that was stopped at any image continues, and embeds an image again that changed in between.
func TestUpdateStopped(t *testing.T) {
	a := newAlbum(t, 20)
	stop := func(after int) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		count := a.host.Images
		defer func() { a.host.Images = count }()
		a.host.Images = func() (func(backbone.Progress), func()) {
			observe, end := count()
			return func(p backbone.Progress) {
				if observe(p); p.Done >= after {
					cancel()
				}
			}, end
		}
		if _, err := a.update(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped: %v", err)
		}
	}
	stop(8)
	a.draw(1, 11) // was embedded before the stop
	if r, err := a.update(t.Context()); err != nil || a.seen > 13 || r.Rows != 20 || !strings.Contains(a.told,
		"continuing after") || !strings.Contains(a.told, "1 image changed (the first is 01.png)") {
		t.Fatalf("%+v, %v: %s", r, err, a.told)
	}
	a.want(0, "")
	for i := range 10 {
		a.draw(i, 100+i)
	}
	stop(4)
	a.draw(0, 200)
	if _, err := a.update(t.Context()); err != nil || a.seen > 7 {
		t.Fatalf("%d embedded, %v: %s", a.seen, err, a.told)
	}
	a.want(0, "")
}

// Update replaces a damaged store and a store of another backbone, and continues a store of winnow extract.
func TestUpdateOther(t *testing.T) {
	a := newAlbum(t, 8)
	if _, err := a.extraction(a.out).Run(t.Context(), a.host); err != nil {
		t.Fatal(err)
	}
	a.want(0, "")
	size := 30
	var err error
	e := a.extraction(a.out)
	e.Config.Preprocessing.Resize = size
	e.Overwrite = true
	if _, err := e.Run(t.Context(), a.host); err != nil {
		t.Fatal(err)
	}
	a.want(8, "computing all features again")
	e = a.extraction(filepath.Join(t.TempDir(), "views"))
	if e.Config.Views, err = backbone.ParseViews("center+flip", 1); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if r, err := e.Update(t.Context(), a.host); err != nil || r.Complete != (i > 0) || len(r.Views) != 2 {
			t.Fatalf("two views, time %d: %+v, %v", i, r, err)
		}
	}
	spoilt := filepath.Join(a.out, "features.npy")
	data, err := os.ReadFile(spoilt)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	for range 2 {
		if err := os.WriteFile(spoilt, data, 0o644); err != nil {
			t.Fatal(err)
		}
		a.want(8, "has changed since it was written: computing all features again")
		a.draw(2, 22)
	}
	for _, name := range []string{"features.npy", "store.json"} {
		if err := os.WriteFile(filepath.Join(a.out, name), []byte("damaged"), 0o644); err != nil {
			t.Fatal(err)
		}
		a.want(8, "")
	}
}

// Run updates a store of winnow extract whose images changed. A folder without readable images leaves no unfinished
// store.
func TestRunSeesChanges(t *testing.T) {
	a := newAlbum(t, 8)
	run := func() Result {
		t.Helper()
		a.seen, a.told = 0, ""
		r, err := a.extraction(a.out).Run(t.Context(), a.host)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := run(); r.Rows != 8 || a.seen != 8 {
		t.Fatalf("found %+v, %d embedded", r, a.seen)
	}
	if r := run(); !r.Complete || a.seen != 0 {
		t.Errorf("unchanged: %+v, %d embedded", r, a.seen)
	}
	if err := os.Remove(filepath.Join(a.out, SeenFile)); err != nil { // a store may have no record
		t.Fatal(err)
	}
	long := time.Now().Add(-time.Hour) // backdate the images before the store
	if err := os.Chtimes(filepath.Join(a.out, "features.npy"), long, long); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		if err := os.Chtimes(filepath.Join(a.dir, a.path(i)), long, long); err != nil {
			t.Fatal(err)
		}
	}
	a.draw(3, 7)
	if err := os.Chtimes(filepath.Join(a.dir, a.path(3)), long.Add(time.Minute), long.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if r := run(); r.Complete || a.seen != 1 || !strings.Contains(a.told, "1 image changed (the first is 03.png)") {
		t.Errorf("an image changed: %+v, %d embedded: %s", r, a.seen, a.told)
	}
	if r := run(); !r.Complete || a.seen != 0 {
		t.Errorf("unchanged again: %+v, %d embedded", r, a.seen)
	}
	e := a.extraction(filepath.Join(t.TempDir(), "none"))
	e.Paths = []string{"gone.png", "lost.png"}
	if _, err := e.Run(t.Context(), a.host); err == nil {
		t.Fatal("extracting missing images returned no error")
	}
	if _, begun := features.BegunBatch(e.Out); begun {
		t.Error("an unfinished store is left")
	}
}

// TestCopyStore checks that the features of an earlier command are used, except those of images that changed since.
func TestCopyStore(t *testing.T) {
	a := newAlbum(t, 6)
	if _, err := a.update(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.draw(2, 40)
	a.host.Stores, a.seen = []string{t.TempDir(), a.out}, 0
	e := a.extraction(filepath.Join(t.TempDir(), "features"))
	from, err := e.CopyStore(a.host)
	if err != nil || from != a.out {
		t.Fatalf("copied from %q: %v", from, err)
	}
	if _, err := e.Store(t.Context(), a.host); err != nil || a.seen != 1 {
		t.Errorf("%d images embedded, expected the changed one: %v", a.seen, err)
	}
}
