package noise

import (
	"slices"
	"strings"
	"testing"

	"winnow/cmd/winnow/term/termtest"
	"winnow/filters/noiserate"
)

func TestOptions(t *testing.T) {
	var got *Options
	asked := func(args string) (err error) {
		got, err = termtest.Asked(t, command, strings.Fields(args)...)
		return err
	}
	if err := asked("m.csv --features f --top 2 --seed 3 --json"); err != nil {
		t.Fatal(err)
	}
	if got.Manifest.Path() != "m.csv" || got.Features != "f" || got.Top != 2 || got.Seed != 3 || !got.JSON ||
		!slices.Equal(got.Methods, []string{noiserate.Auto}) {
		t.Errorf("%+v", got)
	}
	if err := asked("m.csv --features f --method all"); err != nil || !slices.Equal(got.Methods, noiserate.Methods()) {
		t.Errorf("%v: %+v", err, got)
	}
	for args, want := range map[string]string{"--features f": "expected one manifest", "m.csv": "--features missing",
		"m.csv --features f --method guess": `--method: found "guess", expected`} {
		if err := asked(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", args, err, want)
		}
	}
}
