package inventory

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/papers/studies"
)

// The list has every table and figure of a paper once, and every study.
func TestWhole(t *testing.T) {
	all, err := List()
	if err != nil {
		t.Fatal(err)
	}
	found, made := map[string]int{}, map[string]bool{}
	names := map[string]bool{}
	for _, it := range all {
		kind, _, _ := strings.Cut(it.Item, " ")
		if kind == "Table" || kind == "Fig." {
			found[it.Paper+" "+kind]++
		}
		if names[it.Paper+it.Item] {
			t.Errorf("%s, %s stands there twice", it.Paper, it.Item)
		}
		names[it.Paper+it.Item] = true
		ways := 0
		for _, is := range []bool{len(it.Studies) > 0, it.Command != "", it.Why != ""} {
			if is {
				ways++
			}
		}
		if ways != 1 || (len(it.Data) == 0) != (it.Why != "") || (it.Cells > 0) != (len(it.Studies) > 0) {
			t.Errorf("%s, %s: found %d ways to make it, data %v, %d cells", it.Paper, it.Item, ways, it.Data, it.Cells)
		}
		for _, name := range it.Studies {
			made[name] = true
		}
		if it.GPU.Hours > 0 || it.GPU.Of != notMeasured && it.GPU.Of != noTraining {
			t.Errorf("%s, %s: a GPU's time is %v, and no GPU was measured", it.Paper, it.Item, it.GPU)
		}
	}
	// as counted in the papers
	want := map[string]int{"000 Fig.": 7, "001 Table": 6, "001 Fig.": 7, "002 Table": 2, "002 Fig.": 5,
		"003 Table": 1, "003 Fig.": 7, "004 Table": 4, "004 Fig.": 2}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	list, err := studies.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if !made[s.Name] {
			t.Errorf("%s, %s is not in the list", s.Name, s.Source)
		}
	}
}

// An estimate is the number of steps of all trainings of all seeds at the measured rate; without a rate or the number
// of images there is none.
func TestEstimates(t *testing.T) {
	all, err := List()
	if err != nil {
		t.Fatal(err)
	}
	of := func(paper, item string) Item {
		i := slices.IndexFunc(all, func(it Item) bool { return it.Paper == paper && it.Item == item })
		if i < 0 {
			t.Fatal(paper, item)
		}
		return all[i]
	}
	// 6 trainings of 20,000 steps, at 23 s for 2,000 steps and two at once; frozen and whitened are not trained
	if got, want := of("003", "Fig. 4"), 6*3*20000*23.0/2000/2/3600; math.Abs(got.Heads.Hours-want) > 1e-9 ||
		got.Cells != 8 || fmt.Sprint(got.Data) != "[mnist]" || math.Abs(got.Whole.Hours-4.5) > 1e-9 {
		t.Errorf("found %+v, expected %v hours", got, want)
	}
	if got, want := of("003", "Fig. 5"), 6*3*50000*23.0/2000/2/3600; math.Abs(got.Heads.Hours-want) > 1e-9 {
		t.Errorf("found %+v, expected %v hours", got, want)
	}
	// 8 noise rates × 3 recipes with as many toplines, 20 epochs of 5,864 images in batches of 60, 3 seeds
	if got, want := of("000", "Fig. 2"), 8*6*3*20*97*2.47/1000/2/3600; math.Abs(got.Heads.Hours-want) > 1e-9 ||
		got.Seeds != 3 {
		t.Errorf("found %+v, expected %v hours", got, want)
	}
	if got, want := of("000", "Fig. 4"), of("000", "Fig. 1").Heads.Hours+of("000", "Fig. 2").Heads.Hours+of("000",
		"Fig. 3").Heads.Hours; math.Abs(got.Heads.Hours-want) > 1e-9 || got.Cells != 3*64 {
		t.Errorf("of three sets: %+v, expected %v hours", got, want)
	}
	if got := estimated(heads, "prism-table1", -1, 8054); got.Hours != 0 || got.Of != "number of images unknown" {
		t.Errorf("of a set that is not counted: %+v", got)
	}
	if sop, cub := of("001", "Table III").Heads, of("001", "Table II").Heads; !sop.AtLeast || cub.AtLeast ||
		!strings.HasPrefix(sop.String(), "over ") {
		t.Errorf("of 59,551 images: %v; of 5,864: %v", sop, cub)
	}
	if trained("prism-table2", "cub200") != 5864 || trained("sclrhe-table4", "cub200") != 5994 ||
		trained("prism-table2", "dogs") != 0 {
		t.Error("half of the classes of CUB, all of them, and another set")
	}
	if got := of("001", "Table II"); !(got.Whole.Hours > got.Heads.Hours) || got.Whole.Of == "" ||
		got.Heads.From != "experiments/reproduce/prism-table2" {
		t.Errorf("found %+v", got)
	}
	// 14 trainings of 160 steps in three columns, 12 in the clean one, 5 seeds
	if got, want := of("winnow", "Losses and filters on a whole network under label noise, Omniglot"),
		(3*14+12)*5*160*0.07/2/3600; math.Abs(got.Whole.Hours-want) > 1e-9 || got.Heads.Of != noTraining {
		t.Errorf("found %+v, expected %v hours", got, want)
	}
	if got := of("002", "λ∞"); !(got.Heads.Hours > 0) || got.Cells != 132 {
		t.Errorf("found %+v", got)
	}
	if got := of("001", "Fig. 4"); got.Heads.Of != notMeasured || got.Whole.Of != noTraining || got.Cells != 40 {
		t.Errorf("found %+v", got)
	}
	var text strings.Builder
	if err := WriteTable(&text, all); err != nil || strings.Count(text.String(), "\n") != len(all)+5 ||
		!strings.Contains(text.String(), "illustration: the pipeline") {
		t.Errorf("%v: %s", err, text.String())
	}
}
