package reproduce

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/cmd/winnow/term/termtest"
	"winnow/papers/runner"
)

func TestRead(t *testing.T) {
	var got *Options
	do := func(args ...string) {
		t.Helper()
		var err error
		if got, err = termtest.Asked(t, command, args...); err != nil {
			t.Fatal(err)
		}
	}
	if do("--json"); !got.List || !got.JSON {
		t.Errorf("found %+v, expected the list", got)
	}
	do("--data", "cub200=a.csv,b", "--seeds", "1,3,7-9", "--rows", "MCL", "--set", "length=5 steps", "--jobs", "2", "--dry-run", "prism-table2")
	if diff := cmp.Diff([]runner.Source{{Name: "cub200", Manifest: "a.csv", Features: "b"}}, got.Data, cmp.AllowUnexported(runner.Source{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]uint64{1, 3, 7, 8, 9}, got.Seeds); diff != "" || got.Study.Name != "prism-table2" || got.Dir != "reproduced" || !got.DryRun || got.Jobs != 2 || got.List || got.Glyphs != nil {
		t.Errorf("found %+v %s", got, diff)
	}
	if do("--data", "glyphs", "--classes", "12", "prism-table1"); got.Glyphs == nil || *got.Glyphs != (runner.Glyphs{Classes: 12}) || got.Data != nil || got.Seeds != nil {
		t.Errorf("found %+v, expected glyphs", got)
	}
	for _, args := range [][]string{
		{"prism-table1"}, {"--data", "a.csv", "prism-table1"}, {"--data", "a.csv,b", "--data", "c.csv,d", "prism-table1"},
		{"--data", "nix=a.csv,b", "prism-table1"}, {"--data", "glyphs", "--seeds", "0", "prism-table1"}, {"--data", "cars196=a,b", "--data", "cars196=a,b", "prism-table1"},
	} {
		if _, err := termtest.Asked(t, command, args...); err == nil {
			t.Errorf("%q was let through", args)
		}
	}
}
