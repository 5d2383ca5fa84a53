package features

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// viewPlan is a plan of three views, stored in the given type.
func viewPlan(n int, dtype string) Plan {
	plan := testPlan(n)
	plan.Key.Views, plan.Key.DType = []string{"center", "flip", "prism.1@7"}, dtype
	return plan
}

// value returns number j of view v of an image, as made by batchAt.
func value(plan Plan, row, v, j int) float32 {
	if row == 5 {
		return 0
	}
	return float32(row) + float32(v*plan.Dim+j)/8
}

func TestViews(t *testing.T) {
	for _, dtype := range []string{"", Float16} {
		plan := viewPlan(10, dtype)
		s := makeStore(t, t.TempDir(), plan)
		if s.Version != storeVersion || s.Views() != 3 || s.Key.DType != dtype {
			t.Fatalf("%q: version %d, %d views of %q", dtype, s.Version, s.Views(), s.Key.DType)
		}
		rows := []int{7, 0, 1, 2, 5, 9, 9}
		every, err := s.ReadViews(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		for v := range 3 {
			x := Part(every, v*len(rows), len(rows))
			for i, r := range rows {
				for j, got := range Row(x, i) {
					if got != value(plan, r, v, j) {
						t.Errorf("%q: row %d, view %d, number %d: %v, expected %v", dtype, r, v, j, got,
							value(plan, r, v, j))
					}
				}
			}
		}
		first, err := s.Read(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.ReadViews(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		mean, err := s.Averaged().Read(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(first.Data, all.Data[:len(first.Data)]) {
			t.Error("the first rows of all views are not those of the first view")
		}
		for i, r := range rows {
			for j := range plan.Dim {
				if got, want := Row(mean, i)[j], value(plan, r, 1, j); got != want { // views are equally far apart
					t.Errorf("mean of row %d: %v, expected %v", r, got, want)
				}
				if got, want := Row(all, 2*len(rows)+i)[j], value(plan, r, 2, j); got != want {
					t.Errorf("third view of row %d: %v, expected %v", r, got, want)
				}
			}
		}
		if slices.Equal(first.Data, mean.Data) {
			t.Error("the mean is the first view")
		}
		data, err := os.ReadFile(filepath.Join(s.Dir, VectorsFile))
		if err != nil {
			t.Fatal(err)
		}
		a, err := ReadNPY(bytes.NewReader(data), int64(len(data)))
		if err != nil || !slices.Equal(a.Shape, []int{10, 3, 3}) || a.Floats[(7*3+2)*3+1] != value(plan, 7, 2, 1) {
			t.Errorf("%q: as npy: shape %v, %v", dtype, a.Shape, err)
		}
	}
}

// TestMeanOfManyRows: more rows than are averaged at a time.
func TestMeanOfManyRows(t *testing.T) {
	plan := viewPlan(4000, Float16)
	plan.Dim, plan.Batch = 11, 500
	for i := range plan.Paths {
		plan.Paths[i] = strings.Repeat("x", i/100+1)
	}
	s := makeStore(t, t.TempDir(), plan)
	x, err := s.Averaged().Read(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []int{0, 5, 6, 992, 993, 1985, 1986, 3999} {
		var want float64
		for v := range 3 {
			want += float64(widenHalf(toHalf(value(plan, r, v, 4)))) / 3
		}
		if got := float64(Row(x, r)[4]); math.Abs(got-want) > 1e-3 {
			t.Errorf("row %d: %v, expected %v", r, got, want)
		}
	}
}

// TestOneViewIsAsEver: the format that earlier versions wrote and read, and a checksum.
func TestOneViewIsAsEver(t *testing.T) {
	plan := testPlan(3)
	plan.Key.DType = Float32 // spelled out
	s := makeStore(t, t.TempDir(), plan)
	got := folder(t, s.Dir)
	const want = `{
  "version": 1,
  "key": {
    "model": "1f3a",
    "output": "pool5",
    "preprocessing": "p",
    "views": [
      "center"
    ],
    "images": "a3515943af7a73c7df6534922b96c2c5e03ae1ec85d1788f7b68e8ffba98cc0f"
  },
  "rows": 3,
  "dim": 3,
  "batch": 4,
  "device": "cpu",
  "winnow": "test",
  "bad": [],
  "features_sha256": "af3cabd25a2c1cb41f83238ce511835aff0556a17205a3ece38eaafc22ea5e55",
  "checksum": "0f8cd0db"
}
` // the sums are those of sha256sum and of numpy.save
	if got[storeFile] != want {
		t.Errorf("store.json (-want +got):\n%s", cmp.Diff(want, got[storeFile]))
	}
	if head := got[VectorsFile][:128]; !strings.Contains(head,
		"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }") || len(got[VectorsFile]) != 128+36 {
		t.Errorf("features.npy is %d bytes long and begins with %q", len(got[VectorsFile]), head)
	}
	if x, err := s.Averaged().Read(t.Context(), []int{2}); err != nil || x.Data[1] != value(plan, 2, 0, 1) {
		t.Errorf("mean of one view: %v, %v", x.Data, err)
	}
}

// TestViewsResume: stopped after any batch, the store continues to the same bytes.
func TestViewsResume(t *testing.T) {
	for _, dtype := range []string{"", Float16} {
		plan := viewPlan(10, dtype)
		want := folder(t, makeStore(t, t.TempDir(), plan).Dir)
		for _, stop := range []int{4, 8, 10} {
			dir := t.TempDir()
			w := mustCreate(t, dir, plan, false)
			appendTo(t, w, plan, stop)
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			w.part.Write([]byte("half a row that was not noted"))
			w.Close()
			w = mustCreate(t, dir, plan, false)
			if w.Rows() != stop {
				t.Fatalf("%q: goes on at row %d, expected %d", dtype, w.Rows(), stop)
			}
			appendTo(t, w, plan, 10)
			if _, err := w.Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.Close()
			if diff := cmp.Diff(want, folder(t, dir)); diff != "" {
				t.Errorf("%q, stopped at %d (-want +got):\n%s", dtype, stop, diff)
			}
		}
	}
}

// TestFloat16Limits: values that float16 cannot hold are an error that names the image; subnormals are kept.
func TestFloat16Limits(t *testing.T) {
	plan := viewPlan(4, Float16)
	for _, c := range []struct {
		value float32
		want  string
	}{
		{65519, ""}, {65520, "birds/002.jpg: found the value 65520, expected at most 65504"},
		{-1e9, "found the value -1e+09"},
		{float32(math.NaN()), "found the value NaN"}, {6e-8, ""}, {2e-8, "birds/002.jpg: all values are below"},
	} {
		w := mustCreate(t, t.TempDir(), plan, false)
		x, bad := batchAt(plan, 0)
		copy(Row(x, 2)[3:6], []float32{0, c.value, 0}) // the second view
		err := w.Append(x, bad)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: %v, want %q", c.value, err, c.want)
			}
			w.Close()
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		s, err := w.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		got, err := s.ReadViews(t.Context(), []int{2})
		if v := got.Data[plan.Dim+1]; err != nil || float64(v) != slowHalf(c.value) || v == 0 {
			t.Errorf("%v was read back as %v: %v", c.value, v, err)
		}
	}
}

// FuzzOpen corrupts store.json and the head of features.npy: a store that opens can be read, whatever they say.
func FuzzOpen(f *testing.F) {
	for _, plan := range []Plan{testPlan(7), viewPlan(7, ""), viewPlan(7, Float16)} {
		s, err := func() (*Store, error) {
			w, err := Create(f.TempDir(), plan, false)
			if err != nil {
				return nil, err
			}
			defer w.Close()
			for w.Rows() < 7 {
				if err := w.Append(batchAt(plan, w.Rows())); err != nil {
					return nil, err
				}
			}
			return w.Finish(f.Context())
		}()
		if err != nil {
			f.Fatal(err)
		}
		info, err := os.ReadFile(filepath.Join(s.Dir, storeFile))
		if err != nil {
			f.Fatal(err)
		}
		matrix, err := os.ReadFile(filepath.Join(s.Dir, VectorsFile))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(info, matrix)
	}
	paths := []byte(strings.Join(testPlan(7).Paths, "\n") + "\n")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, info, matrix []byte) {
		for name, data := range map[string][]byte{storeFile: info, VectorsFile: matrix, pathsFile: paths} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s, err := Open(dir)
		if err != nil {
			return
		}
		x, err := s.ReadViews(t.Context(), nil)
		if err != nil {
			t.Fatalf("an open store cannot be read: %v", err)
		}
		if n := len(matrix); x.Rows != 7*s.Views() || 2*len(x.Data) > n {
			t.Fatalf("%d×%d numbers of %d bytes", x.Rows, x.Cols, n)
		}
		if _, err := s.Averaged().Read(t.Context(), []int{6}); err != nil {
			t.Fatal(err)
		}
	})
}
