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
		t.Error("-1 threads were taken")
	}
}

// TestClosedBLAS checks that products go on, in Go, after the runtime is closed.
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
		t.Error("a second BLAS was made")
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

// TestCUDAWithoutProvider requests a GPU from a library without its provider: cuda must name what is missing, auto must
// say that it fell back.
func TestCUDAWithoutProvider(t *testing.T) {
	rt := orttest.Runtime(t)
	missing := rt.MissingCUDA()
	if len(missing) == 0 {
		t.Skip("this machine has everything CUDA needs")
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

func TestMissingNamesEachLibrary(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the names are Linux's")
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "libonnxruntime_providers_shared.so"), []byte("not ELF"),
		0o644); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, m := range ort.MissingIn(folder) {
		found[m.Name] = m.Reason
	}
	if !strings.Contains(found["libonnxruntime_providers_shared.so"], "not a shared library") {
		t.Errorf("broken provider: found %q", found["libonnxruntime_providers_shared.so"])
	}
	if found["libonnxruntime_providers_cuda.so"] != "not beside the runtime" {
		t.Errorf("absent provider: found %q", found["libonnxruntime_providers_cuda.so"])
	}

	// The provider's own list of needs is used: a library that exists is not missing, one that does not is
	// named, and one next to the provider counts as existing.
	compile(t, filepath.Join(folder, "libwinnowbeside.so.7"), "int beside(void) { return 7; }",
		"-Wl,-soname,libwinnowbeside.so.7")
	compile(t, filepath.Join(folder, "libwinnownowhere.so.3"), "int nowhere(void) { return 3; }",
		"-Wl,-soname,libwinnownowhere.so.3")
	compile(t, filepath.Join(folder, "libonnxruntime_providers_shared.so"), "int shared(void) { return 1; }")
	compile(t, filepath.Join(folder, "libonnxruntime_providers_cuda.so"),
		"int nowhere(void); int beside(void); int cuda(void) { return nowhere() + beside(); }",
		filepath.Join(folder, "libwinnowbeside.so.7"), filepath.Join(folder,
			"libwinnownowhere.so.3"), "-Wl,--no-as-needed", "-lm")
	if err := os.Remove(filepath.Join(folder, "libwinnownowhere.so.3")); err != nil {
		t.Fatal(err)
	}
	clear(found)
	for _, m := range ort.MissingIn(folder) {
		found[m.Name] = m.Reason
	}
	if _, ok := found["libwinnownowhere.so.3"]; !ok {
		t.Errorf("found %v, expected libwinnownowhere.so.3 among them", found)
	}
	for _, name := range []string{"libwinnowbeside.so.7", "libm.so.6", "libc.so.6",
		"libonnxruntime_providers_shared.so", "libonnxruntime_providers_cuda.so"} {
		if reason, ok := found[name]; ok {
			t.Errorf("%s is called missing: %s", name, reason)
		}
	}
}

// compile makes a shared library with the C compiler that cgo needs anyway.
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

// TestBadLibraries loads files that are not what winnow needs, each in a process of its own: a library once
// loaded stays.
func TestBadLibraries(t *testing.T) {
	if path := os.Getenv("WINNOW_TEST_LOAD"); path != "" {
		_, err := ort.Load(ort.Config{Library: path})
		fmt.Printf("error: %v\n", err)
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("the files are Linux's")
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
		"text.so":  "text.so: not a library this system can load",
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
