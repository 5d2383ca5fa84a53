package audit

import (
	"os"
	"path/filepath"
	"testing"

	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/run/inspect"
)

func TestReviewCommand(t *testing.T) {
	dir := t.TempDir()
	list := filepath.Join(dir, "a b.jsonl")
	if err := os.WriteFile(list, []byte(`{"path":"x.png","label":"a"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in := inspect.Input{Images: location.At(list), Root: location.At("photos")}
	o := Options{In: in, Files: inspect.Files{Out: "out/s.csv"}}
	want := "winnow studio out/s.csv --manifest '" + list +
		`' --root photos --features 'out/it'\''s.features' --out out/fixed.jsonl`
	if got := o.reviewCommand("out/it's.features", &datasets.Dataset{}); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	o = Options{In: inspect.Input{Images: location.At(dir)}, Files: inspect.Files{Out: "s.csv"}, Decisions: "d.db"}
	folders := &datasets.Dataset{Reading: &datasets.Reading{Form: "class folders"}}
	want = "winnow studio s.csv --manifest " + dir + " --decisions d.db --features s.features --out fixed/"
	if got := o.reviewCommand("s.features", folders); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}
