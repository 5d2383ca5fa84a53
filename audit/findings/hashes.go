package findings

import (
	"context"
	"math"
	"math/rand/v2"

	"winnow/eval"
)

// Hash holds 128 bits of a picture that change little if it is saved again or scaled; the zero value is unknown.
type Hash [2]uint64

const (
	hashBits   = 128
	hashAlike  = 24 // most differing bits of pictures that are worth comparing; at most 10 if saved again or scaled
	hashTables = 24 // then a pair that differs in 12 bits is found with a probability of 99 %, in 24 with one of 60 %
	hashWidest = 16
)

// LikelyCopies lists for each picture at most ten that may be copies by their hashes, nearest first: one of both
// perhaps mirrored, whose hash is in mirrored. The similarity of a pair is the cosine of the share of bits that differ,
// times π. Up to [AllCompared] pictures, it compares all; with more, those that agree in some bits, in time O(n).
func LikelyCopies(ctx context.Context, plain, mirrored []Hash) ([][]eval.Neighbour, error) {
	n := len(plain)
	list := make([][]eval.Neighbour, n)
	marks := make([]sketch, 0, 2*n)
	var rows []int32 // of marks
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
			break // mirrored ones are compared with plain ones only
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for b := a + 1; b < len(marks); b++ {
			if marks[a].countDifferingBits(&marks[b]) <= hashAlike {
				check(a, b)
			}
		}
	}
	return list, nil
}
