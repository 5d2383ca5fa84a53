package export

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"winnow/cmd/winnow/term/termtest"
	"winnow/run/embedding"
	"winnow/run/folder"
)

func TestFlagsBecomeOptions(t *testing.T) {
	for _, c := range []struct {
		args []string
		want Options
	}{
		{[]string{"--npy", "e.npy", "--csv", "e.csv", "--parquet", "e.pq", "--onnx", "e.onnx", "--split", "test",
			"--model", "m", "--check", "3", "--json", "--last", "run"},
			Options{Dir: "run", Run: folder.Options{Last: true, View: "center", For: "export"},
				Files: []embedding.RunFile{{Form: "npy", Path: "e.npy"}, {Form: "csv", Path: "e.csv"},
					{Form: "parquet", Path: "e.pq"}}, ONNX: "e.onnx",
				Splits: "test", Model: "m", Check: 3, JSON: true,
				To: embedding.Upload{Payload: "label,split", Batch: 256}}},
		{[]string{"--to", "postgres://db/photos", "--collection", "c", "--payload", "label", "--batch", "9",
			"--recreate", "ix"},
			Options{Dir: "ix", Run: folder.Options{View: "center", For: "export"}, Splits: "all", Check: 16,
				To: embedding.Upload{Payload: "label", Chosen: true, Batch: 9, Recreate: true,
					Database: embedding.Database{URL: "postgres://db/photos", Collection: "c"}}}},
	} {
		got, err := termtest.Asked(t, newExportCommand, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&c.want, got, termtest.Sources, cmpopts.IgnoreUnexported(Options{}),
			cmpopts.IgnoreFields(folder.Options{}, "Host"),
			cmpopts.IgnoreFields(embedding.Database{}, "Postgres")); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.args, diff)
		}
	}
}
