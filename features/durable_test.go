package features

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// TestFlushByTime checks that rows of a slow network are on disk after a few seconds, even if there are few.
func TestFlushByTime(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		plan := testPlan(20)
		w := mustCreate(t, dir, plan, false)
		defer w.Close()
		kept := func() int {
			p, err := readProgress(filepath.Join(dir, progressFile))
			if err != nil {
				t.Fatal(err)
			}
			return p.Rows
		}
		for range 3 { // at 0, 2 and 4 seconds
			if appendTo(t, w, plan, w.Rows()+1); kept() != 0 {
				t.Fatalf("%d rows are kept before the time is up", kept())
			}
			time.Sleep(2 * time.Second)
		}
		if appendTo(t, w, plan, w.Rows()+1); kept() != 16 {
			t.Errorf("%d rows are kept after 6 s, expected 16", kept())
		}
		if appendTo(t, w, plan, w.Rows()+1); kept() != 16 {
			t.Errorf("%d rows are kept at once after that, expected 16", kept())
		}
	})
}

// TestOldStoreGoesFirst checks that store.json is durably removed before new vectors replace the old vectors.
func TestOldStoreGoesFirst(t *testing.T) {
	dir := t.TempDir()
	plan := testPlan(10)
	makeStore(t, dir, plan)
	before, err := os.Stat(filepath.Join(dir, VectorsFile))
	if err != nil {
		t.Fatal(err)
	}
	actual, syncs := syncDir, 0
	syncDir = func(of string) error {
		syncs++
		if _, err := os.Stat(filepath.Join(of, storeFile)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("store.json still stands: %v", err)
		}
		if now, err := os.Stat(filepath.Join(of, VectorsFile)); err != nil || !os.SameFile(before, now) {
			t.Errorf("the vectors have been replaced: %v", err)
		}
		return actual(of)
	}
	defer func() { syncDir = actual }()
	other := plan
	other.Key.Model = "9c02"
	w := mustCreate(t, dir, other, true)
	defer w.Close()
	appendTo(t, w, other, 10)
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if syncs != 1 {
		t.Errorf("the folder was synced %d times before the vectors were replaced, expected once", syncs)
	}
}

// TestFinishInterrupted checks that computing the checksum, which takes seconds for a large store, stops when the
// context is cancelled, and that Create continues afterwards.
func TestFinishInterrupted(t *testing.T) {
	dir := t.TempDir()
	plan := testPlan(10)
	w := mustCreate(t, dir, plan, false)
	appendTo(t, w, plan, 10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Finish(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, expected %v", err, context.Canceled)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w = mustCreate(t, dir, plan, false)
	defer w.Close()
	if w.Rows() != 10 {
		t.Errorf("%d rows are kept, expected 10", w.Rows())
	}
	if _, err := w.Finish(t.Context()); err != nil {
		t.Error(err)
	}
}
