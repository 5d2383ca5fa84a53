package ort_test

import (
	"bytes"
	"os"
	"runtime/debug"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone/ort"
	"winnow/features"
)

// resident is the memory of this process, in bytes, that is in RAM.
func resident(t *testing.T) int64 {
	t.Helper()
	debug.FreeOSMemory()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("no /proc: %v", err)
	}
	pages, err := strconv.ParseInt(string(bytes.Fields(data)[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// steps trains on batches of all sizes up to most.
func steps(t *testing.T, l *ort.Live, count int) {
	t.Helper()
	const most = 64
	x, y := drawnFloats(1, most*72), features.NewMatrix(most, 5)
	d := blas32.General{Rows: most, Cols: 5, Stride: 5, Data: drawnFloats(2, most*5)}
	for i := range count {
		n := 1 + i*29%most
		part := func(m blas32.General) blas32.General {
			return blas32.General{Rows: n, Cols: 5, Stride: 5, Data: m.Data[:n*5]}
		}
		for _, keep := range []bool{false, true} {
			if err := l.Forward(part(y), [][]float32{x[:n*72]}, n, keep); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Backward(part(d), i%2 == 1); err != nil {
			t.Fatal(err)
		}
	}
}

// A step leaks nothing, for any batch size: unreleased views of kept tensors would take 2.5 MB in this many steps.
func TestLiveLeaksNothing(t *testing.T) {
	m, weights := smallNet()
	l := openLive(t, m, weights)
	steps(t, l, 200) // the arenas fill
	least := int64(1 << 62)
	for range 3 { // what leaks grows every time; the Go heap and the race detector's shadow of it do not
		before := resident(t)
		steps(t, l, 2000)
		least = min(least, int64(resident(t)-before))
	}
	if least > 1<<20 {
		t.Errorf("2000 steps: %d bytes more, at the least of three times", least)
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Backward(features.NewMatrix(1, 5), false); err == nil {
		t.Error("a closed network was differentiated")
	}
}

// Live networks share an arena, which exists for each of them, in any order of opening and closing.
func TestLiveNetworksShareTheirArena(t *testing.T) {
	m, weights := smallNet()
	first := openLive(t, m, weights)
	second := openLive(t, m, weights)
	steps(t, first, 3)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	steps(t, second, 3)
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	third := openLive(t, m, weights)
	steps(t, third, 3)
	if err := third.Close(); err != nil {
		t.Fatal(err)
	}
}
