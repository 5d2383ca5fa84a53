package main

import (
	"math/rand/v2"

	"winnow/datasets/glyphs"
)

// The network's input is (grey/255 - mean)/std.
const (
	mean = 0.5
	std  = 0.25
)

// stream draws an endless sequence of characters; no image appears twice.
type stream struct {
	renderer   *glyphs.Renderer
	characters []glyphs.Character
	conditions glyphs.Conditions
	seed       uint64
}

func newStream(characters []glyphs.Character, conditions glyphs.Conditions, seed uint64) (*stream, error) {
	r, err := glyphs.NewRenderer(characters)
	return &stream{r, characters, conditions, seed}, err
}

// drawGlyph renders image number `number` of the stream into x, as the network's input, and returns its class. Each
// run of len(characters) numbers shows every class once, in a random order.
func (s *stream) drawGlyph(x []float32, number int, order []int) int {
	class := order[number%len(order)]
	var grey [glyphs.Size * glyphs.Size]byte
	s.renderer.Render(grey[:], s.characters[class].Char, s.conditions, rand.New(rand.NewPCG(s.seed, uint64(number))))
	normalizeGrey(x, grey[:])
	return class
}

// drawBatch renders the images first … first+n-1 of the stream.
func (s *stream) drawBatch(x []float32, classes []int, first, n int) {
	orders := map[int][]int{}
	for i := range n {
		if round := (first + i) / len(s.characters); orders[round] == nil {
			orders[round] = rand.New(rand.NewPCG(s.seed, ^uint64(round))).Perm(len(s.characters))
		}
	}
	const pixels = glyphs.Size * glyphs.Size
	inChunks(n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			classes[i] = s.drawGlyph(x[i*pixels:(i+1)*pixels], first+i, orders[(first+i)/len(s.characters)])
		}
	})
}

func normalizeGrey(x []float32, grey []byte) {
	for i, g := range grey {
		x[i] = (float32(g)/255 - mean) / std
	}
}
