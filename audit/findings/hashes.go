package findings

import (
	"context"
	"math"
	"math/rand/v2"

	"winnow/eval"
)

// Hash is a perceptual hash: 128 bits that change little if an image is re-encoded or scaled. Zero means unknown.
type Hash [2]uint64

const (
	hashBits   = 128
	hashAlike  = 24 // most differing bits of images that are compared; re-encoded or scaled: at most 10
	hashTables = 24 // a pair is found with a probability of 99 % if 12 bits differ, 60 % if 24 differ
	hashWidest = 16
)

// LikelyCopies lists for each image up to ten others that may be duplicates by their hashes, nearest first. One image
// of a pair may be mirrored: mirrored holds the hashes of the mirror images. The similarity of a pair is cos(π·s),
// where s is the share of differing bits. Up to [AllCompared] images, it compares all pairs; with more, only hashes
// that agree in some bits, in time O(n).
func LikelyCopies(ctx context.Context, plain, mirrored []Hash) ([][]eval.Neighbour, error) {
	n := len(plain)
	list := make([][]eval.Neighbour, n)
	marks := make([]sketch, 0, 2*n)
	var rows []int32 // row of each mark
	for side, hashes := range [][]Hash{plain, mirrored} {
		for i, h := range hashes {
			if h != (Hash{}) {
				marks, rows = append(marks, sketch{h[0], h[1]}), append(rows, int32(i+side*n))
			}
		}
	}
	check := func(a, b int) bool {
		i, j := int(rows[a]), int(rows[b])
		if i >= n && j >= n || i%n == j%n {
			return false
		}
		near := float32(math.Cos(math.Pi * float64(marks[a].countDifferingBits(&marks[b])) / hashBits))
		noteCopy(&list[i%n], eval.Neighbour{Row: j % n, Similarity: near})
		noteCopy(&list[j%n], eval.Neighbour{Row: i % n, Similarity: near})
		return true
	}
	if n > AllCompared {
		width := min(hashWidest, max(1, int(math.Log2(float64(len(marks))/bucket))))
		return list, checkBucketPairs(ctx, marks, finder{hashBits, width, hashTables, hashAlike, mostChecks},
			rand.New(rand.NewPCG(hashBits, 4)), check)
	}
	for a := range marks {
		if rows[a] >= int32(n) {
			break // mirrored hashes are compared with plain hashes only
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for b := a + 1; b < len(marks); b++ {
			if marks[a].isNear(&marks[b], hashAlike) {
				check(a, b)
			}
		}
	}
	return list, nil
}
