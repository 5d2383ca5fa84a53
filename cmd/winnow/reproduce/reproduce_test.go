package reproduce

import (
	"slices"
	"strings"
	"testing"

	"winnow/cmd/winnow/term/termtest"
	"winnow/datasets/location"
	"winnow/papers/runner"
)

func TestRead(t *testing.T) {
	var got *Options
	do := func(args ...string) {
		t.Helper()
		var err error
		if got, err = termtest.Asked(t, newReproduceCommand, args...); err != nil {
			t.Fatal(err)
		}
	}
	if do(); !got.List {
		t.Errorf("found %+v, expected the list", got)
	}
	do("--data", "cub200=a.csv,b", "--seeds", "1,3,7-9", "--rows", "MCL", "--set", "length=5 steps", "--jobs", "2",
		"--dry-run", "prism-table2")
	if want := (runner.Source{Name: "cub200", Manifest: location.At("a.csv"), Features: "b"}); !slices.Equal(
		got.Data, []runner.Source{want}) {
		t.Errorf("found %+v, expected %+v", got.Data, want)
	}
	if !slices.Equal(got.Seeds, []uint64{1, 3, 7, 8, 9}) || got.Study.Name != "prism-table2" ||
		got.Dir != "reproduced" || !got.DryRun || got.Jobs != 2 || got.List {
		t.Errorf("found %+v", got)
	}
	do("--data", "pets=p.csv,f,img", "--data", "pets@vit=p.csv,v", "sclrhe-table4")
	if list := got.Data; len(list) != 2 || list[0].Root != location.At("img") || list[1].Name != "pets@vit" ||
		list[1].Features != "v" {
		t.Errorf("found %+v", list)
	}
	for args, want := range map[string]string{
		"prism-table1": "--data is missing",
		"--data a.csv,b --data c.csv,d prism-table1":         "found \"a.csv,b\", expected NAME=",
		"--data nix=a.csv,b prism-table1":                    `found "nix=a.csv,b", expected NAME=`,
		"--data a,b --seeds 0 prism-table1":                  "--seeds",
		"--data cars196=a,b --data cars196=a,b prism-table1": `found "cars196=a,b", expected NAME=`,
		"--data pets@beit=p.csv,v sclrhe-table4":             `found "pets@beit=p.csv,v", expected NAME=`,
		"--finetune all --data a,b finetune-mnist":           "defines what each",
		"--data a.csv prism-table1":                          `found "a.csv", expected`,
		"--root r prism-figure4":                             "draws its own data",
	} {
		_, err := termtest.Asked(t, newReproduceCommand, strings.Fields(args)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, expected %q", args, err, want)
		}
	}
}
