package noiserate

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSampledRows(t *testing.T) {
	labels := []int{0, -1, 1, 1, -1, 0, 2, 2}
	count := make([]int, len(labels))
	for seed := range uint64(3000) {
		rows := drawLabelled(labels, 2, rand.New(rand.NewPCG(seed, 17)))
		if len(rows) != 2 || rows[0] >= rows[1] {
			t.Fatalf("drew %v", rows)
		}
		count[rows[0]]++
		count[rows[1]]++
	}
	for i, n := range count {
		if want := 1000; labels[i] < 0 && n > 0 || labels[i] >= 0 && math.Abs(float64(n-want)) > 5*math.Sqrt(1000) {
			t.Errorf("row %d with label %d was drawn %d times", i, labels[i], n)
		}
	}
	if rows := drawLabelled(labels, 100, rand.New(rand.NewPCG(1, 17))); len(rows) != 6 {
		t.Errorf("of 100 rows asked for and 6 there, drew %v", rows)
	}
	if Enough(20_000) != 53_687 || Enough(5) != 100_000 || Enough(1_000_000) != 20_000 {
		t.Errorf("enough: %d, %d, %d", Enough(20_000), Enough(5), Enough(1_000_000))
	}
}
