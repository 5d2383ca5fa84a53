package ort_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/testing/orttest"
)

// pooled is a network from images of 3×4×4 to 3 means, by way of one product.
func pooled() []byte {
	b := graph.NewBuilder("pooled", 17)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(4), graph.Fixed(4)})
	y := b.Node("Flatten", []string{b.Node("GlobalAveragePool", []string{x})})
	w := b.Constant(graph.NewTensor("w", drawnFloats(5, 15), 3, 5))
	b.Output(b.NodeTo("y", "MatMul", []string{y, w}))
	return b.Model().Marshal()
}

var pooledInput = ort.NetworkInput{Channels: 3, Height: 4, Width: 4}

// TestTwoLanes runs both lanes at the same time while sessions run out of memory in every way: all vectors are those of
// one session, and what has room goes on.
func TestTwoLanes(t *testing.T) {
	rt := orttest.Runtime(t)
	const n, size, rounds = 4, 3 * 4 * 4, 12
	pixels := drawnFloats(6, n*size)
	alone, err := ort.NewNetwork(rt, pooled(), "", pooledInput)
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	want := features.NewMatrix(n, 5)
	if err := alone.Infer(want, pixels, n); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		half   int64
		scant  func(which int, whole bool) bool
		second bool // there is a second session at the end
		fails  bool
	}{
		"room for both":                 {0, func(int, bool) bool { return false }, true, false},
		"no room for a second":          {0, func(which int, _ bool) bool { return which == 1 }, false, false},
		"a limit too small for half":    {1 << 20, func(_ int, whole bool) bool { return !whole }, false, false},
		"a limit too small for all":     {1 << 20, func(int, bool) bool { return true }, false, true},
		"no limit and no room":          {0, func(int, bool) bool { return true }, false, true},
		"the second takes from a limit": {1 << 20, func(which int, _ bool) bool { return which == 1 }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			nets, err := ort.TwoLanes(rt, pooled(), "", pooledInput)
			if err != nil {
				t.Fatal(err)
			}
			if len(nets) != 2 || len(nets.Lanes()) != 2 {
				t.Fatalf("%d lanes, expected 2", len(nets))
			}
			nets.Scant(c.half, c.scant)
			var failed atomic.Bool
			turn := func() {
				var lanes sync.WaitGroup
				for _, lane := range nets.Lanes() {
					lanes.Go(func() {
						for range rounds {
							x := features.NewMatrix(n, 5)
							if err := lane.Infer(x, pixels, n); err != nil {
								failed.Store(true)
								if !ort.OutOfMemory(err) {
									t.Error(err)
								}
							} else if !same(x, want) {
								t.Errorf("vectors differ from those of one session")
							}
						}
					})
				}
				lanes.Wait()
			}
			turn()
			nets.Loaded() // the second lane has its session from here on
			turn()
			if second := nets.Loaded(); second != c.second || failed.Load() != c.fails {
				t.Errorf("a second session: %v, failed: %v; expected %v and %v", second, failed.Load(), c.second,
					c.fails)
			}
			if err := nets.Close(); err != nil {
				t.Error(err)
			}
			if err := nets[0].Infer(features.NewMatrix(n, 5), pixels, n); err == nil {
				t.Error("a closed network computes")
			}
		})
	}
}

func same(a, b blas32.General) bool {
	for i, v := range a.Data {
		if v != b.Data[i] {
			return false
		}
	}
	return true
}

// TestPrecision: a network of 16 bits takes and gives float32, rounds, and says why it cannot be.
func TestPrecision(t *testing.T) {
	rt := orttest.Runtime(t)
	pixels := drawnFloats(6, 2*3*4*4)
	var found [2]blas32.General
	for i, precision := range []string{"", features.Float16} {
		nets, err := ort.NewNetworks(rt, pooled(), "", pooledInput, precision)
		if err != nil {
			t.Fatal(err)
		}
		found[i] = features.NewMatrix(2, 5)
		if err := nets.Infer(found[i], pixels, 2); err != nil {
			t.Fatal(err)
		}
		if err := nets.Close(); err != nil {
			t.Error(err)
		}
	}
	if off := furthest(found[0].Data, found[1].Data); off == 0 || off > 5e-3 {
		t.Errorf("float16 is off by %g, expected rounding", off)
	}
	for _, precision := range []string{features.BFloat16, "float8"} { // the CPU has no products in bfloat16
		if nets, err := ort.NewNetworks(rt, pooled(), "", pooledInput, precision); err == nil {
			t.Errorf("%s: loaded", precision)
			_ = nets.Close()
		}
	}
}

// TestLanesNoGPU: a GPU has two lanes, with and without a limit of its memory, which compute side by side.
func TestLanesNoGPU(t *testing.T) {
	cuda, cpu := standIn(t, ort.GPU{})
	limited, err := ort.Load(ort.Config{Library: cuda.Library(), Device: "cuda", GPU: ort.GPU{Memory: 64 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	b := graph.NewBuilder("flat", 17)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(4), graph.Fixed(4)})
	w := b.Constant(graph.NewTensor("w", drawnFloats(5, 48*5), 48, 5))
	b.Output(b.NodeTo("y", "MatMul", []string{b.Node("Flatten", []string{x}), w}))
	pixels := drawnFloats(6, 4*48)
	var want blas32.General
	for i, rt := range []*ort.Runtime{cpu, cuda, limited} {
		nets, err := ort.NewNetworks(rt, b.Model().Marshal(), "y", pooledInput, "")
		if err != nil {
			t.Fatal(err)
		}
		if lanes := len(nets.Lanes()); lanes != min(i, 1)+1 {
			t.Errorf("runtime %d has %d lanes", i, lanes)
		}
		nets.Pin(pixels)
		for turn := range 3 {
			var lanes sync.WaitGroup
			for _, lane := range nets.Lanes() {
				lanes.Go(func() {
					for range ort.WorthTwo {
						x := features.NewMatrix(4, 5)
						if err := lane.Infer(x, pixels, 4); err != nil {
							t.Error(err)
						}
						if i == 0 {
							want = x
						} else if off := furthest(x.Data, want.Data); off > 1e-6 {
							t.Errorf("runtime %d, turn %d: off by %g", i, turn, off)
						}
					}
				})
			}
			lanes.Wait()
			if i > 0 && !nets.Loaded() {
				t.Errorf("runtime %d has no second session", i)
			}
		}
		if err := nets.Close(); err != nil {
			t.Error(err)
		}
	}
}
