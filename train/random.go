package train

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// Rand returns the random source for one purpose in one epoch or step n: a PCG seeded with a hash of (seed, purpose,
// n). No random state is carried from one step to the next. A resumed run therefore draws the same numbers as an
// uninterrupted run, and a new consumer of random numbers does not change the numbers of the others.
func Rand(seed uint64, purpose string, n int) *rand.Rand {
	text := make([]byte, 16, 16+len(purpose))
	binary.LittleEndian.PutUint64(text, seed)
	binary.LittleEndian.PutUint64(text[8:], uint64(n))
	sum := sha256.Sum256(append(text, purpose...))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])))
}
