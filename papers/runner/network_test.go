package runner

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets"
	"winnow/features"
	"winnow/papers/studies"
)

// TestNetworkRow tests that a row with its own network uses that network's features, and is left out without them.
func TestNetworkRow(t *testing.T) {
	s, err := studies.Find("sclrhe-table4")
	if err != nil {
		t.Fatal(err)
	}
	one := datasets.Sample{Path: "1", True: datasets.Unlabelled, Split: datasets.Train}
	d := &datasets.Dataset{Classes: []string{"a"}, Samples: []datasets.Sample{one}}
	made := func(name string) *data { return newData(name, d, &features.Store{Info: features.Info{Sum: name}}) }
	for given, want := range map[string]map[string]int{ // number of cells by the data on which they are trained
		"cifar100 cub200":                      {"cifar100": 7, "cub200": 7},
		"cifar100 cub200 cub200@vit":           {"cifar100": 7, "cub200": 7, "cub200@vit": 1},
		"cifar100 cifar100@vit flowers102@vit": {"cifar100": 7, "cifar100@vit": 1, "flowers102@vit": 1},
		"":                                     {"any": 7},
	} {
		r := reproduction{Options: Options{Study: s, Seeds: []uint64{1}}, data: map[string]*data{}}
		r.Host.Note = func(string, ...any) {}
		for _, name := range strings.Fields(given) {
			r.data[makeSeededKey(name, 1)] = made(name)
		}
		if given == "" {
			r.standIn = made("any")
		}
		if err := r.listCells(); err != nil {
			t.Fatalf("%q: %v", given, err)
		}
		cells, keys := map[string]int{}, map[string]bool{}
		for _, cell := range r.grid.Cells {
			row := s.Rows[cell.Row]
			of := r.findRowData(row, s.Columns[cell.Column], 1).name
			if cells[of]++; strings.HasSuffix(of, "@vit") != (row.Name == "ViT cross entropy") || keys[cell.Key] {
				t.Errorf("%q: %s is trained on %s, key %s", given, r.describeCell(cell), of, cell.Key)
			}
			keys[cell.Key] = true
		}
		if diff := cmp.Diff(want, cells); diff != "" {
			t.Errorf("%q: %s", given, diff)
		}
		if n := len(r.listUsedData()); given != "" && n != len(strings.Fields(given)) {
			t.Errorf("%q: %d datasets are used", given, n)
		}
	}
}
