package features

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// A large matrix uses no heap memory, leaves no file behind, and is the same after its pages were released.
func TestSpill(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	const cols = 1024
	for _, rows := range []int{spillRows + 1, SpillFrom/(4*cols) + 1} {
		large := rows*cols*4 >= SpillFrom && runtime.GOOS != "windows"
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		x, free, err := Spill(rows, cols, func(from int, x blas32.General) error {
			for i := range x.Rows {
				for j := range cols {
					Row(x, i)[j] = float32((from + i) ^ j)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		// 64 KiB for the rest of the process
		if took := after.TotalAlloc - before.TotalAlloc; large && took > 4*cols*(spillRows+1)+1<<16 {
			t.Errorf("%d rows: %d bytes allocated", rows, took)
		}
		ReleasePages()
		for i := range rows {
			if Row(x, i)[3] != float32(i^3) || Row(x, i)[cols-1] != float32(i^(cols-1)) {
				t.Fatalf("%d rows: row %d holds %v", rows, i, Row(x, i)[3])
			}
		}
		if err := free(); err != nil {
			t.Error(err)
		}
	}
	stop := errors.New("stop")
	if _, free, err := Spill(SpillFrom, 1, func(int, blas32.General) error { return stop }); !errors.Is(err, stop) ||
		free() != nil {
		t.Errorf("found %v, expected what stopped it", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A view equals the read vectors, for adjacent and scattered rows, float16 values and means.
func TestView(t *testing.T) {
	halves, several := testPlan(9), testPlan(9)
	halves.Key.DType, several.Key.Views = Float16, []string{"center", "flip"}
	for name, plan := range map[string]Plan{"plain": testPlan(9), "half": halves, "views": several} {
		s := makeStore(t, t.TempDir(), plan)
		for _, rows := range [][]int{{0, 1, 2}, {6, 7, 8}, {2, 4, 1}} {
			labels := make([]int, len(rows))
			for _, store := range []*Store{s, s.Averaged()} {
				stored, err := NewStored(store, rows, labels, rows)
				if err != nil {
					t.Fatal(err)
				}
				read, err := stored.Read(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				viewed, free, err := stored.View(t.Context())
				if err != nil || !slices.Equal(read.X.Data, viewed.X.Data) || !slices.Equal(viewed.IDs, rows) {
					t.Errorf("%s, rows %v: %v, read %v, %v", name, rows, viewed.X.Data, read.X.Data, err)
				}
				if err := free(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
