package ort_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"winnow/backbone/ort"
	"winnow/internal/testing/orttest"
)

func TestRuntimeFacts(t *testing.T) {
	rt := orttest.Runtime(t)
	if !ort.AtLeast(rt.Version(), "1.29.0") || !strings.HasPrefix(rt.Version(), "1.") {
		t.Errorf("version: found %q", rt.Version())
	}
	if !slices.Contains(rt.Providers(), "CPUExecutionProvider") {
		t.Errorf("providers: found %q", rt.Providers())
	}
	if rt.Device() != (ort.Device{}) || rt.Threads() < 1 {
		t.Errorf("found device %v, %d threads", rt.Device(), rt.Threads())
	}
	if err := rt.Check(); err != nil {
		t.Error(err)
	}
	again, err := ort.Load(ort.Config{Library: rt.Library(), Threads: 1})
	if err != nil || again.Threads() != 1 {
		t.Errorf("a second load: found %v", err)
	}
	if _, err := ort.Load(ort.Config{Library: rt.Library() + ".other"}); err == nil ||
		!strings.Contains(err.Error(), "already loaded "+rt.Library()) {
		t.Errorf("another library: found error %v", err)
	}
	if _, err := ort.Load(ort.Config{Library: rt.Library(), Threads: -1}); err == nil {
		t.Error("-1 threads were accepted")
	}
}

// TestClosedBLAS checks that products still work, in Go, after the runtime is closed.
func TestClosedBLAS(t *testing.T) {
	rt, err := ort.Load(ort.Config{Library: orttest.Runtime(t).Library()})
	if err != nil {
		t.Fatal(err)
	}
	b, err := rt.BLAS()
	if err != nil {
		t.Fatal(err)
	}
	if twice, _ := rt.BLAS(); twice != b {
		t.Error("a second BLAS was created")
	}
	if err := rt.Close(); err != nil {
		t.Fatal(err)
	}
	g := gemm{tA: 'N', tB: 'N', m: 30, n: 30, k: 30, alpha: 1, lda: 30, ldb: 30, ldc: 30,
		a: parseVersion(1, 30, 30, 30), b: parseVersion(2, 30, 30, 30), c: parseVersion(3, 30, 30, 30)}
	if wrong := g.check(b); wrong != "" {
		t.Error(wrong)
	}
}

func TestParseDevice(t *testing.T) {
	for text, want := range map[string]string{"": "cpu", "cpu": "cpu", "cuda": "cuda:0", "cuda:0": "cuda:0",
		"cuda:3": "cuda:3", "auto": "auto"} {
		d, err := ort.ParseDevice(text)
		if err != nil || d.String() != want {
			t.Errorf("%q: found %v and error %v, expected %s", text, d, err, want)
		}
	}
	for _, text := range []string{"gpu", "CPU", "cuda:", "cuda:-1", "cuda:x", "cuda:99999999", "cuda:1 "} {
		if _, err := ort.ParseDevice(text); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", text)) {
			t.Errorf("%q: found error %v", text, err)
		}
	}
}

// TestCUDAWithoutProvider requests a GPU from a library without its provider. The device cuda must give an error that
// names the missing library; the device auto must report that it runs on the CPU.
func TestCUDAWithoutProvider(t *testing.T) {
	rt := orttest.Runtime(t)
	missing := rt.MissingCUDA()
	if len(missing) == 0 {
		t.Skip("this machine has all libraries for CUDA")
	}
	_, err := ort.Load(ort.Config{Library: rt.Library(), Device: "cuda:1"})
	if err == nil || !strings.HasPrefix(err.Error(), "ort: device cuda:1: ") {
		t.Fatalf("found error %v", err)
	}
	for _, m := range missing {
		if !strings.Contains(err.Error(), m.Name) {
			t.Errorf("found error %v, expected it to name %s", err, m.Name)
		}
	}
	auto, err := ort.Load(ort.Config{Library: rt.Library(), Device: "auto"})
	if err != nil {
		t.Fatal(err)
	}
	if auto.Device() != (ort.Device{}) || !strings.Contains(auto.Fallback, missing[0].Name) ||
		strings.Contains(auto.Fallback, "\n") {
		t.Errorf("found device %v and %q", auto.Device(), auto.Fallback)
	}
}

// compile builds a shared library with the C compiler that cgo needs.
func compile(t *testing.T, path, source string, flags ...string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "lib.c")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-shared", "-fPIC", "-o", path, file}, flags...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Skipf("gcc: %v: %s", err, out)
	}
}

// TestBadLibraries loads unsuitable files, each in a separate process, because a loaded library stays loaded.
func TestBadLibraries(t *testing.T) {
	if path := os.Getenv("WINNOW_TEST_LOAD"); path != "" {
		_, err := ort.Load(ort.Config{Library: path})
		fmt.Printf("error: %v\n", err)
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("the test files are for Linux")
	}
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	compile(t, at("old.so"), `typedef struct { void *get; const char *(*version)(void); } base;
		static const char *version(void) { return "1.17.3"; }
		static base b = { 0, version };
		base *OrtGetApiBase(void) { return &b; }`)
	compile(t, at("other.so"), "int other(void) { return 1; }")
	if err := os.WriteFile(at("text.so"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"old.so":   "old.so: found ONNX Runtime 1.17.3, expected 1.29.0 or newer",
		"other.so": "other.so: a library without OrtGetApiBase, expected ONNX Runtime",
		"text.so":  "text.so: the file is cut short",
		"none.so":  "none.so",
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestBadLibraries$")
		cmd.Env = append(os.Environ(), "WINNOW_TEST_LOAD="+at(name))
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "error: ort: ") || !strings.Contains(string(out), want) {
			t.Errorf("%s: found %v, %s; expected %q", name, err, out, want)
		}
	}
}
