package ort_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/gonum"

	"winnow/backbone/ort"
	"winnow/internal/testing/orttest"
)

// child is the environment variable with ONNX Runtime's library for tests that run in a separate process.
const child = "WINNOW_TEST_CHILD"

// again runs the current test in a new process with $WINNOW_ORT_LIB set to library, and reports whether this is the
// parent process. It skips the test if there is no ONNX Runtime.
func again(t *testing.T, library string) bool {
	t.Helper()
	if os.Getenv(child) != "" {
		return false
	}
	real := orttest.Runtime(t).Library()
	if library == "" {
		library = real
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), child+"="+real, "WINNOW_ORT_LIB="+library)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v:\n%s", err, out)
	}
	return true
}

// product multiplies two matrices of n×n small whole numbers, for which every implementation is exact, and compares.
func product(t *testing.T, n int) {
	t.Helper()
	a, b, got, want := square(n, 5), square(n, 7), square(n, 1), square(n, 1)
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, a, b, 0, got)
	gonum.Implementation{}.Sgemm(blas.NoTrans, blas.Trans, n, n, n, 1, a.Data, n, b.Data, n, 0, want.Data, n)
	for i := range got.Data {
		if got.Data[i] != want.Data[i] {
			t.Fatalf("%d×%d: entry %d is %v, expected %v", n, n, i, got.Data[i], want.Data[i])
		}
	}
}

func square(n, modulus int) blas32.General {
	x := blas32.General{Rows: n, Cols: n, Stride: n, Data: make([]float32, n*n)}
	for i := range x.Data {
		x.Data[i] = float32(i%modulus - 2)
	}
	return x
}

// A program that only imports the package multiplies with ONNX Runtime from its first large product on.
func TestServedWithoutACall(t *testing.T) {
	if again(t, "") {
		return
	}
	product(t, 8)
	if ort.Opened() {
		t.Error("a small product opened ONNX Runtime")
	}
	product(t, 64)
	if !ort.Opened() {
		t.Error("a large product did not open ONNX Runtime")
	}
	if rt, err := ort.CPU(); err != nil || rt.Library() != os.Getenv("WINNOW_ORT_LIB") {
		t.Errorf("found %+v, %v", rt, err)
	}
}

func TestPrefer(t *testing.T) {
	if again(t, "/nowhere") {
		return
	}
	library := os.Getenv(child)
	ort.Prefer(ort.Config{Library: library, Device: "cuda:7", Threads: 1})
	product(t, 64)
	if rt, err := ort.CPU(); err != nil || rt.Library() != library || rt.Threads() != 1 {
		t.Errorf("found %+v, %v", rt, err)
	}
}

func TestServedWithoutRuntime(t *testing.T) {
	if again(t, "/nowhere") {
		return
	}
	product(t, 64)
	if _, err := ort.CPU(); err == nil || !strings.Contains(err.Error(), "/nowhere: no such file") {
		t.Errorf("found %v", err)
	}
	if _, err := ort.Open(ort.Config{}); err == nil || !strings.Contains(err.Error(), "/nowhere") {
		t.Errorf("found %v", err)
	}
}

func TestOpen(t *testing.T) {
	library := orttest.Runtime(t).Library()
	defer blas32.Use(blas32.Implementation())
	blas32.Use(gonum.Implementation{})
	for range 2 {
		rt, err := ort.Open(ort.Config{Library: library, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		product(t, 64)
		if err := rt.Close(); err != nil {
			t.Fatal(err)
		}
		product(t, 64)
	}
}
