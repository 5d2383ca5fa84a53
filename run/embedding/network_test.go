package embedding

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"winnow/backbone/ort"
	"winnow/datasets/glyphs"
	"winnow/features"
	"winnow/head"
	"winnow/internal/testing/orttest"
)

// vectorsOf embeds images on devices and returns the bits of all vectors. Every device must have worked.
func vectorsOf(t *testing.T, e *Embedder, devices string, fill int) string {
	t.Helper()
	d, files, err := glyphs.New(glyphs.Config{Classes: 12, Images: 3, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	n, err := e.Load(Host{Runtime: func() (*ort.Runtime, error) {
		return ort.Load(ort.Config{Library: orttest.Runtime(t).Library(), Device: devices})
	}}, fill, true)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	queries, bad, err := n.Queries(t.Context(), files, d.Paths(), Options{Batch: 5, Workers: 2})
	if err != nil || len(bad) > 0 || len(queries) != 36 {
		t.Fatalf("%s: %d vectors, %v, %v", devices, len(queries), bad, err)
	}
	for i, l := range n.lanes {
		if l.x == nil {
			t.Errorf("%s: device %d of %d did nothing", devices, i, len(n.Lanes()))
		}
	}
	var b bytes.Buffer
	for _, q := range queries {
		fmt.Fprintf(&b, "%s %x\n", q.Name, q.Vector)
	}
	return fmt.Sprintf("%d ", len(n.lanes)) + b.String()
}

// Devices that share the batches, here sessions on the CPU, make the vectors of one to the bit: of a backbone alone,
// behind a head, and with batches that are filled up.
func TestDevices(t *testing.T) {
	note := func(string, ...any) {}
	for name, with := range map[string]func(*Embedder) int{
		"backbone": func(*Embedder) int { return 0 },
		"filled":   func(*Embedder) int { return 6 },
		"head": func(e *Embedder) int {
			h, err := head.New(t.Context(), head.Config{In: 192, Out: 12, Init: head.Random},
				features.NewMatrix(1, 192), rand.New(rand.NewPCG(1, 2)))
			if err != nil {
				t.Fatal(err)
			}
			e.head = h
			return 0
		},
	} {
		e, err := Open("glyphnet", "", note)
		if err != nil {
			t.Fatal(err)
		}
		fill := with(e)
		one, three := vectorsOf(t, e, "cpu", fill), vectorsOf(t, e, "cpu,cpu,cpu", fill)
		if one[0] != '1' || three[0] != '3' || one[1:] != three[1:] {
			t.Errorf("%s: %.200s\nthree devices: %.200s", name, one, three)
		}
	}
}
