package main

import (
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"winnow/features"
	"winnow/run/extraction"
)

// TestBatchAuto checks that every batch size gives the same features up to rounding, and that auto names its choice.
func TestBatchAuto(t *testing.T) {
	a := newAlbum(t, 40)
	var stores [][]float32
	for _, batch := range []string{"auto", "1", "2", "4", "7", "32", "256"} {
		a.out = filepath.Join(a.dir, "batch"+batch)
		code, out, errs := a.extract(t, t.Context(), "--batch", batch, "--json")
		var got extraction.Result
		if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
			t.Fatalf("--batch %s: exit code %d, %v: %s", batch, code, err, errs)
		}
		if batch == "auto" && (got.Batch != 32 || !strings.Contains(errs, "batch auto: 32 images a run, ")) {
			t.Errorf("auto took %d: %s", got.Batch, errs)
		}
		s, err := features.Open(a.out)
		if err != nil {
			t.Fatal(err)
		}
		x, err := s.Read(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		stores = append(stores, x.Data)
	}
	for k, data := range stores[1:] {
		for i, v := range data {
			if d := math.Abs(float64(v - stores[0][i])); d > 1e-5 {
				t.Fatalf("store %d: value %d differs by %v", k+1, i, d)
			}
		}
	}
}

// TestBatchAutoGoesOn continues a store that was begun with another batch size.
func TestBatchAutoGoesOn(t *testing.T) {
	a := newAlbum(t, 13)
	a.mustExtract(t, "--batch", "2")
	want := a.files(t)
	done, err := features.Open(a.out)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := done.Read(t.Context(), []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	a.out = filepath.Join(a.dir, "begun")
	w, err := features.Create(a.out, features.Plan{Key: done.Key, Paths: done.Paths, Dim: done.Dim, Batch: 2,
		Device: done.Device, Winnow: done.Winnow}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append(rows, nil), w.Flush(), w.Close()); err != nil {
		t.Fatal(err)
	}
	_, errs := a.mustExtract(t, "--batch", "auto")
	holds(t, errs, "batch auto: 2 images, as the store was begun")
	if got := a.files(t); got["features.npy"] != want["features.npy"] {
		t.Error("the bytes differ from those of one run")
	}
}
