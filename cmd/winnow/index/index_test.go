package index

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
		{[]string{"--model", "run", "-o", "ix", "a.zip", "-"},
			Options{embedding.Options{Model: "run", Batch: 32}, location.All([]string{"a.zip", "-"}), "ix", false, false}},
		{[]string{"--out", "ix", "--add", "--json", "--batch", "5", "photos"}, Options{embedding.Options{Batch: 5},
			location.All([]string{"photos"}), "ix", true, true}},
	} {
		got, err := termtest.Asked(t, newIndexCommand, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		c.want.Stdin = os.Stdin
		if diff := cmp.Diff(&c.want, got, termtest.Sources,
			cmp.Comparer(func(a, b io.Reader) bool { return a == b })); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.args, diff)
		}
	}
}
