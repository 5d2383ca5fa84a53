// Package orttest gives tests a loaded ONNX Runtime. If the library is missing, a test is skipped with a message; with
// CI=true it fails.
package orttest

import (
	"os"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"winnow/backbone/ort"
	"winnow/internal/ortlib"
)

// load loads the library once for all tests of the process.
var load = sync.OnceValues(func() (*ort.Runtime, error) {
	found, err := ortlib.Find(os.Getenv("WINNOW_ORT_LIB"))
	if err != nil {
		return nil, err
	}
	return ort.Load(ort.Config{Library: found.Path, Kernels: os.Getenv("WINNOW_TEST_KERNELS")})
})

// Runtime returns the process's ONNX Runtime on the CPU, found by $WINNOW_ORT_LIB or where `winnow runtime install`
// puts it. If the library is missing, the test is skipped (with CI=true, it fails); a library that cannot be loaded is
// always a failure.
func Runtime(t testing.TB) *ort.Runtime {
	t.Helper()
	if _, err := ortlib.Find(os.Getenv("WINNOW_ORT_LIB")); err != nil {
		message := "orttest: " + err.Error() + "; set WINNOW_ORT_LIB or run: winnow runtime install"
		if os.Getenv("CI") == "true" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	rt, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

// UseBLAS makes ONNX Runtime compute the products of blas32 and blas64, and returns its BLAS. The setting lasts until
// the process ends; a benchmark that compares must restore the previous BLAS.
func UseBLAS(t testing.TB) *ort.BLAS {
	t.Helper()
	b, err := Runtime(t).BLAS()
	if err != nil {
		t.Fatal(err)
	}
	blas32.Use(b)
	blas64.Use(b)
	return b
}
