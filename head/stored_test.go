package head_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/features"
	"winnow/head"
	"winnow/internal/testing/memory"
)

// Whitening and embedding stored features needs memory only for blocks of features and for the result. The result
// equals, bit for bit, the result for the same features in memory.
func TestStoredStay(t *testing.T) {
	const n, dim, out = 60_000, 64, 8
	plan := features.Plan{Key: features.Key{Model: "m", Output: "o", Preprocessing: "{}", Views: []string{"center"}},
		Dim: dim, Batch: n, Device: "cpu", Winnow: "test"}
	x := features.NewMatrix(n, dim)
	for i := range n {
		plan.Paths = append(plan.Paths, strconv.Itoa(i))
		for j := range dim {
			x.Data[i*dim+j] = float32((i*(j+3)*7919)%1009)/100 + float32(j%5)
		}
	}
	dir := t.TempDir()
	w, err := features.Create(dir, plan, false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Append(x, nil); err != nil {
		t.Fatal(err)
	}
	store, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var rows, labels []int
	for i := range n {
		if i%10 != 3 {
			rows, labels = append(rows, i), append(labels, i%7-1)
		}
	}
	all, err := features.NewStored(store, rows, labels, rows)
	if err != nil {
		t.Fatal(err)
	}
	stored := all.Labelled()
	var got features.Set
	memory.Check(t, n*dim*4*3/4, func() {
		if got, err = head.WhitenSet(t.Context(), stored, out); err != nil {
			t.Fatal(err)
		}
	})
	held, err := stored.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, err := head.WhitenSet(t.Context(), held, out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" || got.Len() < n/2 {
		t.Errorf("%d rows (-held +stored):\n%s", got.Len(), diff)
	}
	if diff := cmp.Diff(x.Data[held.IDs[5]*dim:held.IDs[5]*dim+dim], held.Row(5)); diff != "" || labels[0] != -1 ||
		held.Labels[0] == -1 {
		t.Errorf("labels %v (-written +read):\n%s", held.Labels[:3], diff)
	}
	if _, err := features.NewStored(store, []int{n}, nil, nil); err == nil {
		t.Error("a row after the last was accepted")
	}
}
