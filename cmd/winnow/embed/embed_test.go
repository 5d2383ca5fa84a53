package embed

import (
	"io"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/cmd/winnow/term/termtest"
	"winnow/datasets/location"
	"winnow/run/embedding"
)

func TestFlagsBecomeOptions(t *testing.T) {
	for _, c := range []struct {
		args []string
		want Options
	}{
		{[]string{"run", "photos", "b.jpg", "-o", "e.NPY", "--l2"}, Options{
			Options: embedding.Options{Model: "run", Batch: 32}, Images: location.All([]string{"photos", "b.jpg"}),
			Out: "e.NPY", Unit: true, files: []string{"e.NPY", "e.ids.csv"}}},
		{[]string{"--model", "m.onnx", "photos", "--json", "--root", "r", "--backbone", "b"},
			Options{Options: embedding.Options{Model: "m.onnx", Backbone: "b", Root: location.At("r"), Batch: 32},
				Images: location.All([]string{"photos"}), JSON: true}},
	} {
		got, err := termtest.Asked(t, newEmbedCommand, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		c.want.Stdin = os.Stdin
		if diff := cmp.Diff(&c.want, got, termtest.Sources, cmp.AllowUnexported(Options{}),
			cmp.Comparer(func(a, b io.Reader) bool { return a == b })); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.args, diff)
		}
	}
}

// Of two wrong flags always the same one is reported.
func TestTheFirstMisuseIsTold(t *testing.T) {
	for range 50 {
		const want = "--batch: found 0, expected at least 1"
		if _, err := termtest.Asked(t, newEmbedCommand, "run", "photos", "-o", "e.npy", "--batch", "0", "--workers",
			"-1"); err == nil || err.Error() != want {
			t.Fatalf("%v, expected %q", err, want)
		}
	}
}
