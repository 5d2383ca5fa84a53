package train

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// Rand returns the random source for one purpose at one moment: a PCG seeded by a hash of (seed, purpose, n),
// where n is an epoch or a step. No random state outlives its moment, so a resumed run draws what the
// uninterrupted one drew, and a new consumer of randomness does not change the draws of others.
func Rand(seed uint64, purpose string, n int) *rand.Rand {
	text := make([]byte, 16, 16+len(purpose))
	binary.LittleEndian.PutUint64(text, seed)
	binary.LittleEndian.PutUint64(text[8:], uint64(n))
	sum := sha256.Sum256(append(text, purpose...))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])))
}
