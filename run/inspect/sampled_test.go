package inspect_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/audit"
	"winnow/audit/judges"
	"winnow/cluster"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/testing/killed"
	"winnow/run/inspect"
)

const (
	madeRows, madeClasses, madeDim = 600, 6, 12
	lone                           = 17 // row whose class has no other
	torn                           = 40 // row that could not be read
)

// madeStore writes a manifest and a store with one cluster for each class. Every ninth label is that of the next
// class; every 50th row has none. Row 501 is a copy of row 100.
func madeStore(t testing.TB, dir string) inspect.Input {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 1))
	manifest, paths := "path,label,true_label,split\n", []string(nil)
	x := features.NewMatrix(madeRows, madeDim)
	for i := range madeRows {
		class := rng.IntN(madeClasses)
		label := fmt.Sprint("class", class)
		switch {
		case i == lone:
			label = "lone"
		case i%50 == 3:
			label = ""
		case i%9 == 0:
			label = fmt.Sprint("class", (class+1)%madeClasses)
		}
		paths = append(paths, fmt.Sprintf("%d.png", i))
		manifest += fmt.Sprintf("%s,%s,class%d,train\n", paths[i], label, class)
		for j := range madeDim {
			x.Data[i*madeDim+j] = float32(2 + 0.6*rng.NormFloat64())
		}
		x.Data[i*madeDim+class] += 2
	}
	copy(x.Data[501*madeDim:][:madeDim], x.Data[100*madeDim:][:madeDim])
	in := inspect.Input{Manifest: location.At(dir).Join("m.csv"), Features: filepath.Join(dir, "store"), View: "center"}
	if err := os.WriteFile(in.Manifest.Path(), []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	key := features.Key{Model: strings.Repeat("a", 64), Output: "pool", Preprocessing: "{}", Views: []string{"center"}}
	w, err := features.Create(in.Features, features.Plan{Key: key, Paths: paths, Dim: madeDim, Batch: madeRows,
		Device: "cpu", Winnow: "test"}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Append(x, []features.Bad{{Row: torn, Path: paths[torn], Reason: "torn"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	return in
}

func sampledBy(scorer string) inspect.Options {
	return inspect.Options{Options: audit.Options{Scorer: scorer, Seed: 1, Folds: 3}, FitSample: 200}
}

// joinAll joins the parts of an output.
func joinAll(ctx context.Context, out string) (cluster.Result, error) {
	return cluster.Join(ctx, location.At(out), []cluster.Joiner{inspect.Job},
		cluster.JoinOptions{Progress: func(int, int) {},
			Note: func(string, ...any) {}})
}

// allWritten holds the printed text and the files of an audit.
type allWritten struct{ Said, Suspects, Classes, Clean, JSON string }

func readAll(t *testing.T, r cluster.Result, a *inspect.Report, f inspect.Files) (w allWritten) {
	t.Helper()
	var said, all bytes.Buffer
	if err := errors.Join(r.Write(&said), a.WriteJSON(&all)); err != nil {
		t.Fatal(err)
	}
	w.Said, w.JSON = said.String(), all.String()
	for _, file := range []struct {
		name string
		to   *string
	}{{f.Out, &w.Suspects}, {f.Classes, &w.Classes}, {f.Clean, &w.Clean}} {
		data, err := os.ReadFile(file.name)
		if err != nil {
			t.Fatal(err)
		}
		*file.to = string(data)
	}
	return w
}

// files returns the files of an audit in a folder.
func files(dir string) inspect.Files {
	return inspect.Files{Out: filepath.Join(dir, "s.csv"), Classes: filepath.Join(dir, "k.csv"),
		Clean: filepath.Join(dir, "c.csv"), Relabel: true, Top: 7}
}

// printed is an audit as its command prints it.
type printed struct {
	*inspect.Report
	top int
}

func (p printed) Write(w io.Writer) error {
	p.WriteText(w, p.top)
	return nil
}

// onOne audits on one machine.
func onOne(t *testing.T, in inspect.Input, o inspect.Options) (allWritten, *inspect.Report) {
	t.Helper()
	a, err := inspect.Judge(t.Context(), in, o, inspect.Host{})
	if err != nil {
		t.Fatal(err)
	}
	f := files(t.TempDir())
	if err := a.Save(t.Context(), f, o, func(string, ...any) {}); err != nil {
		t.Fatal(err)
	}
	return readAll(t, printed{a, f.Top}, a, f), a
}

// An audit in parts equals that of one machine, to the byte: the printed text, the list, the classes, the mended
// manifest and JSON. And it finds the wrong labels.
func TestDealt(t *testing.T) {
	in := madeStore(t, t.TempDir())
	for _, scorer := range audit.Shardable() {
		o := sampledBy(scorer)
		want, a := onOne(t, in, o)
		if d := a.Detection; len(a.Images) != madeRows-1-madeRows/50 || a.Unjudged != 1 || len(a.LeftOut) != 1 ||
			a.Sampled < 190 || a.Sampled > 220 || d.AP < 0.9 {
			t.Fatalf("%s: %d images, %d unjudged, %d left out, fitted to %d, %+v", scorer, len(a.Images), a.Unjudged,
				len(a.LeftOut), a.Sampled, d)
		}
		if n := a.Noise; n.Rate < 0.07 || n.Rate > 0.16 || n.Low > 0.11 || n.High < 0.11 {
			t.Errorf("%s: %+v of a ninth", scorer, n)
		}
		if len(a.Groups) != 1 || !slices.Equal(a.Groups[0].Paths, []string{"100.png", "501.png"}) ||
			!strings.Contains(want.Said, "nearest images were not looked for") {
			t.Errorf("%s: found\n%s", scorer, want.Said)
		}
		for _, n := range []int{1, 3, 8} {
			f := files(t.TempDir())
			for i := range n {
				made, err := inspect.StorePart(t.Context(), in, o, inspect.Host{}, f,
					cluster.Shard{Index: i + 1, Of: n}, "test")
				if err != nil {
					t.Fatal(err)
				}
				if made.Complete || made.Out.Path() != f.Out {
					t.Fatalf("%+v", made)
				}
			}
			if again, err := inspect.StorePart(t.Context(), in, o, inspect.Host{}, f, cluster.Shard{Index: n, Of: n},
				"test"); err != nil || !again.Complete {
				t.Fatal(again, err)
			}
			r, err := joinAll(t.Context(), f.Out)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, readAll(t, r, r.(inspect.Joined).Report, f)); diff != "" {
				t.Errorf("%s, %d parts (-one machine +joined):\n%s", scorer, n, diff)
			}
		}
	}
}

// Another sample, seed or scorer is another job. A missing or damaged part is named, and audits that cannot be
// divided are refused.
func TestDealtRefuses(t *testing.T) {
	in := madeStore(t, t.TempDir())
	o, f := sampledBy(judges.Centres), files(t.TempDir())
	two := func(i int) cluster.Shard { return cluster.Shard{Index: i, Of: 2} }
	make := func(o inspect.Options, i int) error {
		_, err := inspect.StorePart(t.Context(), in, o, inspect.Host{}, f, two(i), "test")
		return err
	}
	refused := func(what string, err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", what, err, want)
		}
	}
	if err := make(o, 1); err != nil {
		t.Fatal(err)
	}
	_, err := joinAll(t.Context(), f.Out)
	refused("half of the parts", err, "2")
	for what, change := range map[string]func(*inspect.Options){
		"Seed":      func(o *inspect.Options) { o.Seed++ },
		"Scorer":    func(o *inspect.Options) { o.Scorer = audit.Crossfit },
		"FitSample": func(o *inspect.Options) { o.FitSample++ },
		"Folds":     func(o *inspect.Options) { o.Folds++ },
		"Rate":      func(o *inspect.Options) { o.Rate = new(0.1) },
	} {
		other := o
		change(&other)
		refused(what, make(other, 2), "setting "+what)
	}
	if err := make(o, 2); err != nil {
		t.Fatal(err)
	}
	if _, err := joinAll(t.Context(), f.Out); err != nil {
		t.Fatal(err)
	}
	other := o
	second := cluster.Path(location.At(f.Out), 2, 2).Join("values.gob").Path()
	whole, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	spoilt := slices.Clone(whole)
	spoilt[len(spoilt)/2] ^= 1
	if err := os.WriteFile(second, spoilt, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = joinAll(t.Context(), f.Out)
	refused("a torn part", err, "2")
	if err := make(o, 2); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(second); err != nil || !bytes.Equal(again, whole) {
		t.Errorf("a part made again has other bytes (%v)", err)
	}
	manifest, err := os.ReadFile(in.Manifest.Path())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in.Manifest.Path(), bytes.Replace(manifest, []byte("1.png,class"), []byte("1.png,lass"), 1),
		0o644); err != nil {
		t.Fatal(err)
	}
	_, err = joinAll(t.Context(), f.Out)
	refused("another manifest", err, "manifest changed since")

	none := o
	none.FitSample = 0
	refused("no sample", make(none, 1), "expected a fit sample")
	for _, scorer := range []string{judges.Fitted, "knn", "vmf"} {
		other := o
		other.Scorer = scorer
		refused(scorer, make(other, 1), "expected one of combined, centres, crossfit")
	}
	other.Seed, other.Rounds = 1, 2
	refused("seeds", make(other, 1), "a single seed")
}

// killedIn names the folder in which a separate process makes a part: TestKilledChild.
const killedIn = "WINNOW_TEST_KILLED_AUDIT"

// TestKilledChild is not a test: it reports the middle of its part, and waits to be killed.
func TestKilledChild(t *testing.T) {
	dir, ok := os.LookupEnv(killedIn)
	if !ok {
		t.Skip("only run by TestKilledPart")
	}
	h := inspect.Host{Told: func(done, total, _ int, _ string) {
		if 2*done > total {
			_ = killed.Halfway()
		}
	}}
	in := inspect.Input{Manifest: location.At(dir).Join("m.csv"), Features: filepath.Join(dir, "store"), View: "center"}
	_, err := inspect.StorePart(t.Context(), in, sampledBy(judges.Centres), h, files(dir),
		cluster.Shard{Index: 2, Of: 3},
		"test")
	t.Fatal("went on after its half:", err)
}

// A process that is killed during the fit for all, or in the middle of its part, leaves neither. Others continue, the
// join names the missing part, and once it is made the audit equals that of one machine.
func TestKilledPart(t *testing.T) {
	dir := t.TempDir()
	in, o, f := madeStore(t, dir), sampledBy(judges.Centres), files(dir)
	want, _ := onOne(t, in, o)
	killed.Child(t, "TestKilledChild", killedIn+"="+dir)
	for _, i := range []int{1, 3} {
		if _, err := inspect.StorePart(t.Context(), in, o, inspect.Host{}, f, cluster.Shard{Index: i, Of: 3},
			"test"); err != nil {
			t.Fatal(err)
		}
	}
	killed.Child(t, "TestKilledChild", killedIn+"="+dir)
	if _, err := joinAll(t.Context(), f.Out); err == nil || !strings.Contains(err.Error(), "2") {
		t.Fatalf("without a part: %v", err)
	}
	if _, err := inspect.StorePart(t.Context(), in, o, inspect.Host{}, f, cluster.Shard{Index: 2, Of: 3},
		"test"); err != nil {
		t.Fatal(err)
	}
	r, err := joinAll(t.Context(), f.Out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, readAll(t, r, r.(inspect.Joined).Report, f)); diff != "" {
		t.Errorf("-one machine +joined:\n%s", diff)
	}
}
