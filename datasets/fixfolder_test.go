package datasets_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/internal/testing/killed"
)

// Names that a shell would read as something else, and pairs that meet in one folder.
var flowers = []string{"train/rose/it's $(touch x).jpg", "train/rose/-f 1.jpg", "train/rose/b\nc.jpg",
	"train/rose/1.jpg", "train/lily/1.jpg", "train/lily/2.jpg", "test/lily/1.jpg", "test/rose/1.jpg"}

// fixes relabels or drops the named images.
var fixes = map[string]datasets.Decision{"train/rose/it's $(touch x).jpg": {Label: "lily"},
	"train/rose/-f 1.jpg": {Label: "car"}, "train/rose/b\nc.jpg": {Drop: true}, "train/rose/1.jpg": {Label: "lily"},
	"train/lily/1.jpg": {Label: "rose"}, "test/lily/1.jpg": {Drop: true}}

// flowerFolder writes the images, each with its path as its content, and changes to the folder above.
func flowerFolder(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range flowers {
		file := filepath.Join("photos", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// fixFlowers applies the fixes of the images that are still there.
func fixFlowers(ctx context.Context, o datasets.FolderOut) (*datasets.FixedFolder, error) {
	at := location.At("photos")
	d, err := datasets.Read(at, datasets.ReadOptions{})
	if err != nil {
		return nil, err
	}
	decisions := map[int]datasets.Decision{}
	for i, s := range d.Samples {
		if what, ok := fixes[s.Path]; ok {
			decisions[i] = what
		}
	}
	_, f, err := datasets.FixFolder(ctx, o, at, d, decisions)
	return f, err
}

// contents returns the content of each file below the working folder, by path.
func contents(t *testing.T, below string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.Walk(below, func(file string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			var text []byte
			text, err = os.ReadFile(file)
			all[file] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// fixed is what each image is called after the fixes; in place, train/rose/1.jpg is still there when
// train/lily/1.jpg is moved.
func fixed(folder string) map[string]string {
	return map[string]string{
		folder + "/train/lily/it's $(touch x).jpg": flowers[0], folder + "/train/car/-f 1.jpg": flowers[1],
		folder + ".dropped/train/rose/b\nc.jpg": flowers[2], folder + "/train/lily/1.jpg": flowers[3],
		folder + "/train/rose/1.jpg": flowers[4], folder + "/train/lily/2.jpg": flowers[5],
		folder + ".dropped/test/lily/1.jpg": flowers[6], folder + "/test/rose/1.jpg": flowers[7],
	}
}

// TestFixFolder checks class folders written in each way: where every image is, that the source is whole, that a second
// run leaves the first alone, and that the new folder is read with the new labels.
func TestFixFolder(t *testing.T) {
	for _, by := range []string{datasets.ByCopy, datasets.ByHardlink, datasets.BySymlink} {
		flowerFolder(t)
		before := contents(t, "photos")
		f, err := fixFlowers(t.Context(), datasets.FolderOut{Path: "fixed/", By: by})
		if err != nil {
			t.Fatal(err)
		}
		got := contents(t, ".")
		for file, text := range before {
			if got[file] != text {
				t.Errorf("%s: the source changed: %q is %q", by, file, got[file])
			}
			delete(got, file)
		}
		delete(got, "fixed.moves.csv")
		if diff := cmp.Diff(fixed("fixed"), got); diff != "" {
			t.Errorf("%s: %s", by, diff)
		}
		if f.Moves != 6 || f.Folder != "fixed" || f.Aside != "fixed.dropped" {
			t.Errorf("%s: %+v", by, f)
		}
		d, err := datasets.Read(location.At("fixed"), datasets.ReadOptions{})
		if err != nil || len(d.Samples) != 6 || strings.Join(d.Classes, " ") != "car lily rose" ||
			len(d.Select(datasets.Test)) != 1 {
			t.Errorf("%s: read as %+v, %v", by, d, err)
		}
		if f, err = fixFlowers(t.Context(), datasets.FolderOut{Path: "fixed", By: by}); err != nil ||
			f.Folder != "fixed-2" || len(contents(t, "fixed-2")) != 6 {
			t.Errorf("%s: again: %+v, %v", by, f, err)
		}
	}
}

// TestFixFolderClash checks that an image whose name is taken gets a number, also from a file that is no image of the
// set, and that the list says so.
func TestFixFolderClash(t *testing.T) {
	flowerFolder(t)
	all := fixes
	fixes = maps.Clone(fixes)
	defer func() { fixes = all }()
	for _, by := range []string{datasets.ByCopy, datasets.ByMove} {
		delete(fixes, "train/lily/1.jpg") // stays, so that train/rose/1.jpg needs another name
		o := datasets.FolderOut{Path: "fixed/", By: by}
		if by == datasets.ByMove {
			o.Path = ""
			if err := os.MkdirAll("photos/train/car", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile("photos/train/car/-f 1.jpg", nil, 0o644); err != nil { // not readable: no image
				t.Fatal(err)
			}
		}
		f, err := fixFlowers(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		got := contents(t, f.Folder)
		if got[f.Folder+"/train/lily/1.jpg"] != flowers[4] || got[f.Folder+"/train/lily/1-2.jpg"] != flowers[3] {
			t.Errorf("%s: %v", by, got)
		}
		if by == datasets.ByMove && (got["photos/train/car/-f 1.jpg"] != "" ||
			got["photos/train/car/-f 1-2.jpg"] != flowers[1]) {
			t.Errorf("%v", got)
		}
		list, err := os.Open(f.List)
		if err != nil {
			t.Fatal(err)
		}
		defer list.Close()
		rows, err := csv.NewReader(list).ReadAll()
		want := []string{"photos/train/rose/1.jpg", f.Folder + "/train/lily/1-2.jpg", "rose", "lily",
			"renamed: the name was taken"}
		if found := fmt.Sprintf("%q", rows); err != nil || !strings.Contains(found, fmt.Sprintf("%q", want)) {
			t.Errorf("%s: %v in %s", by, err, found)
		}
	}
}

// stopping calls killed.Halfway when it is asked for the fourth time.
type stopping struct {
	context.Context
	asked *int
}

func (c stopping) Err() error {
	if *c.asked++; *c.asked == 4 {
		return killed.Halfway()
	}
	return nil
}

// TestFixFolderKilled kills the process between two images. The source must be whole or, moved in place, complete with
// what was moved; a second run must finish the work; and the scripts must move all images back.
func TestFixFolderKilled(t *testing.T) {
	const variable = "WINNOW_TEST_FIX_FOLDER"
	if by, dir, ok := strings.Cut(os.Getenv(variable), ":"); ok {
		t.Chdir(dir)
		_, err := fixFlowers(stopping{t.Context(), new(int)}, datasets.FolderOut{By: by,
			Path: map[string]string{datasets.ByCopy: "fixed"}[by]})
		t.Fatal("not killed", err)
	}
	for _, by := range []string{datasets.ByCopy, datasets.ByMove} {
		flowerFolder(t)
		before := contents(t, ".")
		dir, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		killed.Child(t, "TestFixFolderKilled", variable+"="+by+":"+dir)
		o := datasets.FolderOut{Path: "fixed", By: by}
		if by == datasets.ByMove {
			o.Path = ""
			if got := len(contents(t, "photos")) + len(contents(t, "photos.dropped")); got != len(flowers) {
				t.Errorf("%d images after the kill, expected %d", got, len(flowers))
			}
		} else if diff := cmp.Diff(before, contents(t, "photos")); diff != "" {
			t.Error(diff)
		}
		f, err := fixFlowers(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		all := contents(t, f.Folder)
		for file, text := range contents(t, f.Aside) {
			all[file] = text
		}
		want := fixed(f.Folder)
		if by == datasets.ByCopy {
			if diff := cmp.Diff(want, all); diff != "" {
				t.Error(diff)
			}
			if left, _ := filepath.Glob(".*"); len(left) > 0 {
				t.Errorf("left %q", left)
			}
			continue
		}
		if len(all) != len(want) || all["photos/train/car/-f 1.jpg"] != flowers[1] {
			t.Errorf("%v", all)
		}
		for _, script := range []string{f.Undo, "photos.undo.sh"} {
			if said, err := exec.Command("sh", script).CombinedOutput(); err != nil {
				t.Errorf("%s: %v", said, err)
			}
		}
		if diff := cmp.Diff(before, contents(t, "photos")); diff != "" {
			t.Error(diff)
		}
	}
}
