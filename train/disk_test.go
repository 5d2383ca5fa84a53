//go:build linux

package train

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// On a full disk, which a limit on the size of files simulates, the run ends with an error of one line and leaves
// the old checkpoint intact.
func TestFullDiskKeepsTheOldCheckpoint(t *testing.T) {
	const here = "WINNOW_TEST_FULL_DISK"
	// run in a separate process, because the limit would also apply to the files that go test writes
	if os.Getenv(here) == "" {
		c := exec.Command(os.Args[0], "-test.run=^TestFullDiskKeepsTheOldCheckpoint$")
		c.Env = append(os.Environ(), here+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	dir := t.TempDir()
	b := newBed(t, dir, func(c *Config) { c.Steps = 18 })
	if _, err := b.trainer(t).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	before := read(t, dir, CheckpointFile)
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	again := newBed(t, dir, func(c *Config) { c.Steps = 18 })
	tr := again.trainer(t)
	must(tr.Resume())
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	err := tr.writeCheckpoint()
	if e := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); e != nil {
		t.Fatal(e)
	}
	if !errors.Is(err, syscall.EFBIG) || !strings.HasPrefix(err.Error(), "train: checkpoint.winnow: step 18: ") {
		t.Errorf("found error %v, expected a failed write at step 18", err)
	}
	if !bytes.Equal(before, read(t, dir, CheckpointFile)) {
		t.Error("the old checkpoint changed")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".checkpoint*")); len(left) > 0 {
		t.Errorf("temporary files remain: %v", left)
	}
}

func TestFullDiskStopsTheMetrics(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/dev/full", filepath.Join(dir, MetricsFile)); err != nil {
		t.Fatal(err)
	}
	b := newBed(t, dir, nil)
	f, err := os.OpenFile(filepath.Join(dir, MetricsFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here: ", err)
	}
	defer f.Close()
	m := &metrics{lines: &lineFile{MetricsFile, f}}
	tr := b.trainer(t)
	fact, err := tr.trainStep()
	if err != nil {
		t.Fatal(err)
	}
	m.terms = []string{"a", "b", "c", "d"}
	if err := m.writeStep(fact); !errors.Is(err, syscall.ENOSPC) ||
		!strings.HasPrefix(err.Error(), "train: metrics.jsonl: step 1: ") {
		t.Errorf("%v, expected no space left", err)
	}
}
