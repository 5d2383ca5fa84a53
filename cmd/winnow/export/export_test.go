package export

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"winnow/cmd/winnow/term/termtest"
	"winnow/run/export"
	"winnow/run/folder"
)

func TestFlagsBecomeOptions(t *testing.T) {
	got, err := termtest.Asked(t, newExportCommand, "--npy", "e.npy", "--csv", "e.csv", "--onnx", "e.onnx", "--split",
		"test", "--model", "m", "--json", "--last", "--to", "postgres://db/photos", "run")
	if err != nil {
		t.Fatal(err)
	}
	want := &Options{Dir: "run", Run: folder.Options{Last: true, View: "center", For: "export"},
		Files: map[string]string{
			"npy": "e.npy",
			"csv": "e.csv",
		}, ONNX: "e.onnx", Splits: "test", Model: "m", JSON: true,
		To: &export.Table{Name: "run"}}
	if diff := cmp.Diff(want, got, termtest.Sources, cmpopts.IgnoreUnexported(export.Table{}),
		cmpopts.IgnoreFields(folder.Options{}, "Host")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
