package embed

import (
	"io"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/cmd/winnow/term/termtest"
	"winnow/embedding"
)

func TestFlagsBecomeOptions(t *testing.T) {
	for _, c := range []struct {
		args []string
		want Options
	}{
		{[]string{"run", "photos", "b.jpg", "-o", "e.NPY", "--l2"}, Options{embedding.Options{Model: "run", Batch: 32}, []string{"photos", "b.jpg"}, "e.NPY", true, false}},
		{[]string{"--model", "m.onnx", "photos", "--json", "--root", "r", "--backbone", "b"}, Options{embedding.Options{Model: "m.onnx", Backbone: "b", Root: "r", Batch: 32}, []string{"photos"}, "", false, true}},
	} {
		got, err := termtest.Asked(t, command, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		c.want.Stdin = os.Stdin
		if diff := cmp.Diff(&c.want, got, cmp.Comparer(func(a, b io.Reader) bool { return a == b })); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.args, diff)
		}
	}
}
