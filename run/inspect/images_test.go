package inspect_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"winnow/audit/suspects"
	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/datasets/location"
	"winnow/eval"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/internal/testing/orttest"
	"winnow/run/extraction"
	"winnow/run/folder"
	"winnow/run/inspect"
)

const (
	drawnClasses = 12
	drawnImages  = 12
)

// drawChecked writes glyphs into class folders inside the split folders that where names. The first image of each of
// the first three classes is misplaced: it is in the folder of the next class.
func drawChecked(t *testing.T, where func(class, number int) string) (dir string, misplaced []string) {
	t.Helper()
	d, files, err := glyphs.New(glyphs.Config{Classes: drawnClasses, Images: drawnImages, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for i, s := range d.Samples {
		number, class := i%drawnImages, s.Label
		if number == 0 && class < 3 {
			class++
		}
		data, err := fs.ReadFile(files, s.Path)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(where(s.Label, number), d.Classes[class], fmt.Sprintf("%d-%d.png", s.Label, number))
		if class != s.Label {
			misplaced = append(misplaced, filepath.ToSlash(path))
		}
		writeTo(t, filepath.Join(dir, path), data)
	}
	return dir, misplaced
}

func writeTo(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func flat(int, int) string { return "" }

// byClass puts all images of a class into one split, as in retrieval benchmarks.
func byClass(class, _ int) string { return []string{"train", "val", "test"}[class%3] }

// studio audits images, collects the notes and counts the embedded images.
type studio struct {
	inspect.Input
	inspect.Options
	inspect.Host
	told string
	seen int
}

func newStudio(t *testing.T, source string) *studio {
	rt := orttest.Runtime(t)
	s := &studio{Input: inspect.Input{Images: location.At(source),
		Features: filepath.Join(t.TempDir(), "suspects.features")}}
	s.Options = inspect.Options{Scorer: "fitted", MaxMem: 1 << 30}
	s.Host = inspect.Host{Host: extraction.Host{
		Runtime: func() (*ort.Runtime, error) { return rt, nil },
		Note:    func(f string, args ...any) { s.told += fmt.Sprintf(f, args...) + "\n" },
		Images: func() (func(backbone.Progress), func()) {
			return func(p backbone.Progress) { s.seen = p.Done - p.Resumed }, func() {}
		}}}
	return s
}

func (s *studio) audit(t *testing.T) *inspect.Report {
	t.Helper()
	s.told, s.seen = "", 0
	a, err := inspect.Judge(t.Context(), s.Input, s.Options, s.Host)
	if err != nil {
		t.Fatalf("%v (%s)\n%s", err, hint.Of(err), s.told)
	}
	return a
}

// paths lists the n most suspect images.
func paths(a *inspect.Report, n int) (list []string) {
	for _, e := range a.Images[:n] {
		list = append(list, e.Path)
	}
	slices.Sort(list)
	return list
}

// In every form of input all images are scored, and the misplaced images are the most suspect. A second audit embeds
// no image again.
func TestPhotos(t *testing.T) {
	all := drawnClasses * drawnImages
	photos, wrong := drawChecked(t, flat)
	split, wrongSplit := drawChecked(t, byClass)
	packed := filepath.Join(t.TempDir(), "photos.zip")
	f, err := os.Create(packed)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	if err := z.AddFS(os.DirFS(photos)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(split, "list.csv")
	var lines strings.Builder
	lines.WriteString("path,label,split\n")
	err = fs.WalkDir(os.DirFS(split), ".", func(p string, e fs.DirEntry, err error) error {
		if parts := strings.Split(p, "/"); len(parts) == 3 {
			fmt.Fprintf(&lines, "%s,%q,%s\n", p, parts[1], parts[0])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	writeTo(t, manifest, []byte(lines.String()))
	for what, c := range map[string]struct {
		source string
		wrong  []string
	}{"folder": {photos, wrong}, "splits by class": {split, wrongSplit}, "zip": {packed, wrong},
		"manifest": {manifest, wrongSplit}} {
		t.Run(what, func(t *testing.T) {
			s := newStudio(t, c.source)
			first := s.audit(t)
			slices.Sort(c.wrong)
			if got := paths(first, len(c.wrong)); len(first.Images) != all || !slices.Equal(got, c.wrong) {
				t.Errorf("%d images scored, the most suspect are %q, expected %d and %q", len(first.Images), got, all,
					c.wrong)
			}
			if s.seen != all || first.Model != "glyphnet" || first.Store != s.Features ||
				!strings.Contains(
					s.told,
					fmt.Sprintf("%d images in %d classes, embedded with glyphnet, made for drawn "+
						"characters", all, drawnClasses),
				) {
				t.Errorf("%d images embedded by %q into %q: %s", s.seen, first.Model, first.Store, s.told)
			}
			if first.Detection != nil {
				t.Error("found a detection result, expected none without true labels")
			}
			second := s.audit(t)
			if s.seen != 0 || !strings.Contains(s.told, "are reused") ||
				second.Images[0].Score != first.Images[0].Score {
				t.Errorf("the second audit embedded %d images: %s", s.seen, s.told)
			}
			var out bytes.Buffer
			if err := second.WriteJSON(&out); err != nil || !strings.Contains(out.String(), `"estimated_noise": {`) ||
				!strings.Contains(out.String(), `"detection": null`) {
				t.Errorf("%v, %.300s", err, out.String())
			}
		})
	}
}

// Splits select the images that are scored; the stored features serve every choice of splits.
func TestPhotosSplits(t *testing.T) {
	dir, _ := drawChecked(t, byClass)
	s := newStudio(t, dir)
	for _, splits := range [][]string{{"test"}, {"train", "test"}, nil} {
		s.Splits = splits
		a := s.audit(t)
		want := drawnClasses * drawnImages
		if n := len(splits); n > 0 {
			want = n * want / 3
			for _, e := range a.Images {
				if split, _, _ := strings.Cut(e.Path, "/"); !slices.Contains(splits, split) {
					t.Fatalf("%q is scored, expected only the splits %q", e.Path, splits)
				}
			}
		}
		if len(a.Images) != want {
			t.Errorf("%q: %d images scored, expected %d", splits, len(a.Images), want)
		}
	}
	if s.seen != 0 {
		t.Errorf("%d images embedded for three choices of splits: %s", s.seen, s.told)
	}
	s.Splits = []string{"query"}
	if _, err := inspect.Judge(t.Context(), s.Input, s.Options, s.Host); err == nil ||
		!strings.Contains(err.Error(), "no such images; images by split: map[test:48 train:48 validation:48]") {
		t.Errorf("a missing split: %v", err)
	}
}

// A broken image is skipped and reported. An audit embeds only new and changed images, and notes them.
func TestPhotosChange(t *testing.T) {
	dir, _ := drawChecked(t, flat)
	s := newStudio(t, dir)
	s.audit(t)
	classes, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(classes[5].Name(), "broken.png")
	writeTo(t, filepath.Join(dir, broken), []byte("no picture"))
	alone := filepath.Join(dir, "U+00AE_registered_sign", "1.png")
	whole, err := os.ReadFile(filepath.Join(dir, classes[4].Name(), "4-1.png"))
	if err != nil {
		t.Fatal(err)
	}
	writeTo(t, alone, whole)
	writeTo(t, filepath.Join(dir, "stray.png"), whole)
	a := s.audit(t)
	if !strings.Contains(s.told, "left out: 1 image (in no class folder)") ||
		!slices.Contains(a.Reading.Left, datasets.Left{Reason: "in no class folder", Of: "images", Files: 1}) {
		t.Errorf("the unlabelled image is not reported: %s, %+v", s.told, a.Reading)
	}
	if s.seen != 2 || !strings.Contains(s.told, "2 images added (the first is ") || len(a.LeftOut) != 1 ||
		a.LeftOut[0].Path != broken || a.Unjudged != 1 {
		t.Errorf("%d embedded, left out %+v, %d not scored: %s", s.seen, a.LeftOut, a.Unjudged, s.told)
	}
	var out bytes.Buffer
	a.WriteText(&out, 3)
	for _, want := range []string{"of 144 labels look wrong.\n", "Of all 144 labels, 0 to ",
		"Not scored: 1 image of ® registered sign, without another image of the class to compare with.",
		"Left out: 1 image could not be read; the first is " + broken + ": not an image"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if s.audit(t); s.seen != 0 {
		t.Errorf("%d images embedded again, expected none without changes: %s", s.seen, s.told)
	}
	made, err := os.Stat(filepath.Join(s.Features, "features.npy"))
	if err != nil {
		t.Fatal(err)
	}
	past := made.ModTime().Add(-2 * time.Hour) // backdate the features, so that a change now is clearly newer
	for _, name := range []string{"features.npy", "store.json", "paths.txt"} {
		if err := os.Chtimes(filepath.Join(s.Features, name), past, past); err != nil {
			t.Fatal(err)
		}
	}
	err = filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(p, past.Add(-time.Hour), past.Add(-time.Hour))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.Features, "seen.json")); err != nil { // a store of winnow extract has none
		t.Fatal(err)
	}
	if s.audit(t); s.seen != 0 {
		t.Errorf("%d images embedded again, expected none: all are older than their features: %s", s.seen, s.told)
	}
	writeTo(t, filepath.Join(dir, broken), whole)
	if a := s.audit(t); s.seen != 1 || len(a.LeftOut) != 0 ||
		!strings.Contains(s.told, "1 image changed (the first is "+broken) {
		t.Errorf("%d embedded, left out %+v: %s", s.seen, a.LeftOut, s.told)
	}
}

// Images that were embedded before an interruption are not embedded again.
func TestPhotosInterrupted(t *testing.T) {
	dir, _ := drawChecked(t, flat)
	s := newStudio(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	h := s.Host
	h.Images = func() (func(backbone.Progress), func()) {
		return func(p backbone.Progress) {
			if p.Done >= 32 {
				cancel()
			}
		}, func() {}
	}
	if _, err := inspect.Judge(ctx, s.Input, s.Options, h); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	s.audit(t)
	if all := drawnClasses * drawnImages; s.seen >= all || s.seen == 0 ||
		!strings.Contains(s.told, fmt.Sprintf("continuing after %d of %d images", all-s.seen, all)) {
		t.Errorf("%d images embedded after the interruption: %s", s.seen, s.told)
	}
}

// Unfit input is refused with a message of one line, before any image is embedded.
func TestPhotosRefused(t *testing.T) {
	t.Setenv("WINNOW_MODELS", filepath.Join(t.TempDir(), "models.json"))
	t.Setenv("WINNOW_MODEL_DIRS", "")
	dir, _ := drawChecked(t, flat)
	photos := filepath.Join(t.TempDir(), "photos")
	for _, name := range []string{"cat/1.jpg", "cat/2.jpg", "dog/1.jpg", "dog/2.jpg", "old/owl/1.jpg"} {
		writeTo(t, filepath.Join(photos, name), nil)
	}
	for what, c := range map[string]struct {
		in         inspect.Input
		want, hint string
	}{
		"nothing": {inspect.Input{Images: location.At(filepath.Join(dir, "nowhere"))},
			"there is no such run folder, folder of images, .zip file or manifest", ""},
		"one class": {inspect.Input{Images: location.At(filepath.Join(photos, "old"))},
			"found 0 classes with two images or more, of 1 with labelled images; expected at least two",
			"a subfolder of images for each class"},
		"empty": {inspect.Input{Images: location.At(t.TempDir())},
			"no image found, expected one folder per class", ""},
		"no backbone": {inspect.Input{Images: location.At(photos)}, "no backbone is installed",
			"winnow models add FILE"},
		"model": {inspect.Input{Images: location.At(dir), Model: "nix"}, `"nix"`, ""},
	} {
		c.in.Features = filepath.Join(t.TempDir(), "store")
		host := extraction.Host{Runtime: func() (*ort.Runtime, error) {
			return nil,
				errors.New("the audit tried to embed an image")
		}}
		_, err := inspect.Judge(t.Context(), c.in, inspect.Options{}, inspect.Host{Host: host})
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(hint.Of(err), c.hint) {
			t.Errorf("%s: %v (%s), expected %q (%s)", what, err, hint.Of(err), c.want, c.hint)
		}
	}
}

// If no label is flagged, the summary shows the images with the lowest scores.
func TestSummaryOfNone(t *testing.T) {
	a := inspect.Report{Scorer: "fitted", Noise: &folder.NoiseRate{High: 0.02}, Images: []suspects.Suspect{
		{Path: "a.jpg", Given: "cat", Suggested: "cat", Score: 0.74}, {Path: "alone.jpg", Given: "owl",
			Suggested: "owl", Unjudged: true}, {Path: "b.jpg", Given: "cat", Suggested: "cat", Score: 0.99}}}
	var out bytes.Buffer
	a.WriteText(&out, 10)
	const want = "least certain, not flagged  given  suggested  given is right\n" +
		"a.jpg                       cat    –                  74.0 %\n" +
		"b.jpg                       cat    –                  99.0 %\n"
	if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "alone.jpg") {
		t.Errorf("no %q in\n%s", want, out.String())
	}
	out.Reset()
	a.Blind = true
	if a.WriteText(&out, 10); strings.Contains(out.String(), "a.jpg") {
		t.Errorf("the summary of a blind audit shows labels:\n%s", out.String())
	}
}

// Sentences claim only what the scores support: without probabilities they give neither an expected number of wrong
// labels nor a number of certain ones.
func TestSentences(t *testing.T) {
	suspect := func(score float64) suspects.Suspect {
		return suspects.Suspect{Given: "cat", Suggested: "dog", Score: score, Flagged: true}
	}
	right := suspects.Suspect{Given: "cat", Suggested: "cat", Score: 0.99}
	expected := 1.6
	const unseen = "Errors that people repeat, such as one class taken for another, look like similar classes and " +
		"are not counted"
	uneven := append([]suspects.Suspect{suspect(0.4), {Given: "owl", Suggested: "owl", Score: 0.7}},
		slices.Repeat([]suspects.Suspect{right}, 39)...)
	some := &folder.NoiseRate{Rate: 0.5, Low: 0.25, High: 0.75}
	for _, c := range []struct {
		a    inspect.Report
		want string
	}{
		{inspect.Report{Scorer: "fitted", Rate: 0.5, Noise: some, Alike: true, ExpectedWrong: &expected,
			Images: []suspects.Suspect{suspect(1.9e-109), suspect(0.4),
				right, right}},
			"2 of 4 labels look wrong.|Expect 0 to 2 of these 2 to be wrong (95 % confidence); for 1 of them " +
				"the probability is above 99 %.|Of all 4 labels, 1 to 3 are wrong (95 % confidence, 2 expected), as " +
				"the label errors spread evenly over all classes.|Of the labels that are not flagged, fewer than one " +
				"in 5 is expected to be wrong."},
		{inspect.Report{Scorer: "knn", Rate: 0.5, Noise: some, Images: []suspects.Suspect{suspect(0.1), right}},
			"1 of 2 labels looks wrong.|Scores of knn only rank labels: they do not show how many of these are " +
				"wrong.|" +
				unseen + "."},
		{inspect.Report{Scorer: "fitted", Noise: &folder.NoiseRate{High: 0.02}, Unjudged: 1, Check: "check it",
			Images:    []suspects.Suspect{right, right, {Given: "owl", Unjudged: true}},
			Detection: &eval.Detection{Samples: 3, LeftOut: 2}},
			"None of 2 labels looks wrong.|No label has a probability of 20 % or more of being wrong.|" + unseen +
				"; checking 60 random images counts them: check it|The manifest has the true labels: none of 3 " +
				"labels is wrong; 2 duplicates whose true labels contradict each other are left out.|" +
				"Not scored: 1 image of owl, without another image of the class to compare with."},
		{inspect.Report{Scorer: "fitted", Unjudged: 3, Images: []suspects.Suspect{{Given: "owl", Unjudged: true},
			{Given: "cat", Unjudged: true}, {Given: "cat", Unjudged: true}}},
			"No label can be scored: fewer than two classes have two images or more.|" +
				"Not scored: 3 images of cat, owl, without another image of the class to compare with."},
		{inspect.Report{Scorer: "knn", Rate: 0.25, Asked: true, Noise: some, Images: []suspects.Suspect{right},
			LeftOut: []lookup.LeftOut{{Path: "a\nb", Reason: "broken"}, {}}},
			"0 of 1 labels are flagged, as many as asked for.|" + unseen + ".|Left out: 2 images could not be read; " +
				"the first is a\\nb: broken."},
		{inspect.Report{Scorer: "fitted", Images: []suspects.Suspect{right}},
			"None of 1 labels looks wrong.|How many labels are wrong is unknown.|" +
				"No label has a probability of 20 % or more of being wrong."},
		{inspect.Report{Scorer: "fitted", Noise: &folder.NoiseRate{Low: 0.04, High: 0.9}, Images: uneven},
			"1 of 41 labels looks wrong.|It is wrong with a probability of 60 %.|At least 1 of all 41 labels must " +
				"be wrong " +
				"(95 % confidence).|The first 2 of the list are worth a review: each may be wrong with a probability " +
				"of 20 % or more.|" + unseen + ".|Too few images to find most label errors among them: owl (1)"},
	} {
		if diff := cmp.Diff(c.want, strings.Join(c.a.Sentences(), "|")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
