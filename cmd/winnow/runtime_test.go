package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"winnow/internal/ortlib"
	"winnow/internal/testing/orttest"
)

// realLibrary returns the path of ONNX Runtime's library. Without the library, the test is skipped, or fails in CI.
func realLibrary(t *testing.T) string {
	t.Helper()
	return orttest.Runtime(t).Library()
}

// TestRuntimeChild is not a test: it is the main function of the process that winnowAlone starts.
func TestRuntimeChild(t *testing.T) {
	args, ok := os.LookupEnv("WINNOW_TEST_ARGS")
	if !ok {
		t.Skip("only run by other tests")
	}
	os.Exit(execute(context.Background(), strings.Split(args, "\x1f"), os.Stdout, os.Stderr))
}

// winnowAlone runs winnow in another process with its own cache folder. Commands that load different libraries need
// different processes, because a loaded library stays loaded.
func winnowAlone(t *testing.T, cache string, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestRuntimeChild$")
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache, "HOME="+cache, "LocalAppData="+cache, "WINNOW_ORT_LIB=",
		"WINNOW_TEST_ARGS="+strings.Join(append([]string{"winnow"}, args...), "\x1f"))
	cmd.Env = append(cmd.Env, env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// archiveOf packs a library into an archive like the npm package.
func archiveOf(t *testing.T, library string) string {
	t.Helper()
	data, err := os.ReadFile(library)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "local.tgz")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewWriterLevel(file, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	err = w.WriteHeader(&tar.Header{Name: "package/bin/napi-v6/os/arch/" + ortlib.FileNames(runtime.GOOS)[0],
		Mode: 0o644, Size: int64(len(data))})
	if err == nil {
		_, err = w.Write(data)
	}
	if err := errors.Join(err, w.Close(), z.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRuntimeInstall installs from a local archive, keeps a library, and replaces a damaged one.
func TestRuntimeInstall(t *testing.T) {
	library := realLibrary(t)
	cache := t.TempDir()
	archive := archiveOf(t, library)
	code, stdout, stderr := winnowAlone(t, cache, nil, "runtime", "install", "--from", archive)
	path := strings.TrimSpace(stdout)
	if code != 0 || !strings.HasPrefix(path, cache) || !strings.Contains(stderr, "winnow: installed "+path) {
		t.Fatalf("install: code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if code, _, stderr = winnowAlone(t, cache, nil, "runtime", "install", "--from", "/nowhere"); code != 0 ||
		!strings.Contains(stderr, "already installed") {
		t.Errorf("again: code %d, %s", code, stderr)
	}
	if err := os.Truncate(path, 1<<20); err != nil {
		t.Fatal(err)
	}
	if code, _, _ = winnowAlone(t, cache, nil, "doctor"); code != 1 {
		t.Errorf("damaged: code %d", code)
	}
	if code, _, stderr = winnowAlone(t, cache, nil, "-q", "runtime", "install", "--overwrite", "--from",
		library); code != 0 || stderr != "" {
		t.Errorf("repair: code %d, %s", code, stderr)
	}
	if code, stdout, stderr = winnowAlone(t, cache, nil, "doctor"); code != 0 || !strings.Contains(stdout, path) ||
		!strings.Contains(stdout, ortlib.Cache) {
		t.Errorf("repaired: code %d, %s%s", code, stdout, stderr)
	}
}

func TestDoctor(t *testing.T) {
	library := realLibrary(t)
	cache := t.TempDir()
	code, stdout, stderr := winnowAlone(t, cache, []string{"WINNOW_ORT_LIB=" + library}, "--threads", "1", "doctor")
	if code != 0 {
		t.Fatalf("code %d, %s", code, stderr)
	}
	holds(t, stdout, library, ", 1 threads\n", "ok       cpu", "the main job can run\n")
	for _, m := range orttest.Runtime(t).MissingCUDA() {
		holds(t, stdout, m.Name)
	}
	code, stdout, stderr = winnowAlone(t, "relative/path", []string{"WINNOW_ORT_LIB=/nowhere/lib.so", "PATH="}, "doctor")
	holds(t, stdout, "MISSING  onnx runtime", "/nowhere/lib.so", "winnow runtime install", "the main job cannot run")
	if code != 1 || !strings.Contains(stderr, "winnow runtime install") {
		t.Errorf("code %d, %s", code, stderr)
	}
}

// TestNothingPhonesHome checks that winnow disables ONNX Runtime's telemetry, which writes to the user's cache folder.
func TestNothingPhonesHome(t *testing.T) {
	library := orttest.Runtime(t).Library()
	cache := t.TempDir()
	if code, _, stderr := winnowAlone(t, cache, nil, "--ort-lib", library, "doctor"); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	err := filepath.WalkDir(cache, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			t.Errorf("%s was written", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
