package train

import (
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// checkEpoch describes what is wrong with an epoch of PK batches, or returns "".
func checkEpoch(epoch [][]int, labels []int, p, k, batches int, visitsAll bool) string {
	if len(epoch) != batches {
		return fmt.Sprintf("%d batches, expected %d", len(epoch), batches)
	}
	size := map[int]int{}
	for _, l := range labels {
		if l >= 0 {
			size[l]++
		}
	}
	seen := map[int]bool{}
	for b, batch := range epoch {
		if len(batch) != min(p, len(size))*k {
			return fmt.Sprintf("batch %d has %d rows", b, len(batch))
		}
		classes := map[int]bool{}
		for at := 0; at < len(batch); at += k {
			group := batch[at : at+k]
			class := labels[group[0]]
			if class < 0 {
				return fmt.Sprintf("batch %d holds the unlabelled row %d", b, group[0])
			}
			if classes[class] {
				return fmt.Sprintf("batch %d holds class %d twice", b, class)
			}
			classes[class] = true
			times := map[int]int{}
			for _, row := range group {
				if labels[row] != class {
					return fmt.Sprintf("batch %d mixes classes in a group", b)
				}
				times[row]++
				seen[row] = true
			}
			if most := (k + size[class] - 1) / size[class]; slices.Max(valuesOf(times)) > most {
				return fmt.Sprintf("batch %d repeats a row of class %d more than %d times", b, class, most)
			}
			if len(times) != min(k, size[class]) {
				return fmt.Sprintf("batch %d has %d distinct rows of class %d", b, len(times), class)
			}
		}
	}
	if visitsAll {
		for row, l := range labels {
			if l >= 0 && !seen[row] {
				return fmt.Sprintf("row %d of class %d was left out", row, l)
			}
		}
	}
	return ""
}

func valuesOf(m map[int]int) []int {
	var list []int
	for _, v := range m {
		list = append(list, v)
	}
	return list
}

func TestSamplerProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(0, 12), 1, 12).Draw(t, "class sizes")
		if rapid.Bool().Draw(t, "one giant") {
			sizes = append(sizes, rapid.IntRange(30, 90).Draw(t, "giant"))
		}
		var labels []int
		for class, n := range sizes {
			for range n {
				labels = append(labels, class*3) // IDs need not be dense
			}
		}
		labels = append(labels, 1, -1, -1)
		Rand(rapid.Uint64().Draw(t, "order"), "test", 0).Shuffle(len(labels), func(i, j int) {
			labels[i], labels[j] = labels[j], labels[i]
		})
		p, k := rapid.IntRange(1, 8).Draw(t, "P"), rapid.IntRange(1, 6).Draw(t, "K")
		grouped := rapid.Bool().Draw(t, "groups")
		seed, e := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 50).Draw(t, "epoch")
		s, err := NewSampler(byClass(grouped, p, k), labels, seed)
		if err != nil {
			t.Fatal(err)
		}
		epoch := s.Epoch(e)
		if wrong := checkEpoch(epoch, labels, p, k, s.Batches(), grouped); wrong != "" {
			t.Fatalf("%s: %v", wrong, epoch)
		}
		for _, batch := range epoch {
			if len(batch) != s.Size() {
				t.Fatalf("batch of %d, Size says %d", len(batch), s.Size())
			}
		}
		again, _ := NewSampler(byClass(grouped, p, k), labels, seed)
		again.Epoch(e + 1) // an epoch does not depend on those drawn before
		if !cmp.Equal(again.Epoch(e), epoch) {
			t.Fatal("the same epoch drawn again differs")
		}
	})
}

func TestSamplerDrawsDiffer(t *testing.T) {
	labels := make([]int, 200)
	for i := range labels {
		labels[i] = i % 20
	}
	for _, how := range []Sampling{Groups{Classes: 16, Images: 4}, Uniform{Classes: 16, Images: 4},
		Shuffle{Rows: 128}} {
		s, _ := NewSampler(how, labels, 1)
		other, _ := NewSampler(how, labels, 2)
		if cmp.Equal(s.Epoch(0), s.Epoch(1)) {
			t.Errorf("%T: epochs 0 and 1 are the same", how)
		}
		if cmp.Equal(s.Epoch(0), other.Epoch(0)) {
			t.Errorf("%T: seeds 1 and 2 are the same", how)
		}
	}
}

// An epoch of shuffled rows has each labelled row at most once, in whole batches, in another order than the
// next epoch; rows left out of one epoch are in another.
func TestShuffledRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.SliceOfN(rapid.IntRange(-1, 5), 1, 60).Draw(t, "labels")
		rows := rapid.IntRange(1, 70).Draw(t, "rows")
		s, err := NewSampler(Shuffle{Rows: rows}, labels, 9)
		labelled := len(labels)
		for _, l := range labels {
			if l < 0 {
				labelled--
			}
		}
		if labelled == 0 {
			if err == nil {
				t.Fatal("no labelled row, and no error")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = min(rows, labelled)
		if s.Size() != rows || s.Batches() != labelled/rows {
			t.Fatalf("%d batches of %d rows, expected %d of %d", s.Batches(), s.Size(), labelled/rows, rows)
		}
		seen := map[int]bool{}
		for e := range 40 {
			batches := s.Epoch(e)
			in := map[int]bool{}
			for _, batch := range batches {
				if len(batch) != rows {
					t.Fatalf("a batch of %d rows, expected %d", len(batch), rows)
				}
				for _, r := range batch {
					if in[r] || labels[r] < 0 {
						t.Fatalf("row %d of label %d, seen before: %v", r, labels[r], in[r])
					}
					in[r], seen[r] = true, true
				}
			}
			if !cmp.Equal(batches, s.Epoch(e)) {
				t.Fatal("an epoch drawn twice differs")
			}
		}
		if rows > labelled/2 && len(seen) < labelled*3/4 {
			t.Fatalf("40 epochs show %d of %d rows", len(seen), labelled)
		}
	})
}

// byClass is one of the two samplings that draw classes.
func byClass(grouped bool, classes, images int) Sampling {
	if grouped {
		return Groups{Classes: classes, Images: images}
	}
	return Uniform{Classes: classes, Images: images}
}

func TestWeightsFindsInProportion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 20).Draw(t, "weights")
		w := newWeights(len(want))
		for i, n := range want {
			w.changeWeight(i, n+1)
			w.changeWeight(i, -1)
		}
		got := make([]int, len(want))
		for x := range w.total {
			got[w.findPosition(x)]++
		}
		if !cmp.Equal(got, want) {
			t.Fatalf("found %v, expected %v", got, want)
		}
	})
}

func TestRandIsAFunctionOfItsArguments(t *testing.T) {
	base := Rand(1, "sampler", 2).Uint64()
	if Rand(1, "sampler", 2).Uint64() != base {
		t.Error("the same arguments give another draw")
	}
	for name, other := range map[string]uint64{
		"seed": Rand(2, "sampler", 2).Uint64(), "purpose": Rand(1, "samples", 2).Uint64(),
		"moment": Rand(1, "sampler", 3).Uint64(),
	} {
		if other == base {
			t.Errorf("another %s gives the same draw", name)
		}
	}
}

func BenchmarkSamplerEpoch(b *testing.B) {
	labels := make([]int, 59551) // the size of Stanford Online Products
	rng := Rand(1, "labels", 0)
	for i := range labels {
		labels[i] = rng.IntN(11318)
	}
	s, err := NewSampler(Groups{Classes: 16, Images: 4}, labels, 1)
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		s.Epoch(i)
	}
}

// Batches requested one after another equal the list.
func TestSamplerEach(t *testing.T) {
	labels := []int{0, 0, 0, 1, 1, 2, 2, 2, 2, -1, -1}
	for _, how := range []Sampling{Groups{Classes: 2, Images: 2, Unlabelled: 1}, Uniform{Classes: 2, Images: 2},
		Shuffle{Rows: 3}} {
		s, err := NewSampler(how, labels, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, views := range []int{1, 2} {
			s.ShowViews(views)
			if each := slices.Collect(s.Each(4)); len(each) != s.Batches() || !cmp.Equal(each, s.Epoch(4)) {
				t.Errorf("%T: %v, expected %v", how, each, s.Epoch(4))
			}
		}
	}
}

// With a balance every row is in the epoch, and classes occur as often as the power says.
func TestSamplerBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 40), 1, 10).Draw(t, "class sizes")
		var labels []int
		for class, n := range sizes {
			for range n {
				labels = append(labels, class)
			}
		}
		labels = append(labels, -1)
		p, k, b := rapid.IntRange(1, 6).Draw(t, "P"), rapid.IntRange(1, 5).Draw(t, "K"),
			rapid.Float64Range(0, 1).Draw(t, "balance")
		for _, how := range []Sampling{Groups{Classes: p, Images: k, Balance: &b},
			Uniform{Classes: p, Images: k, Balance: &b}, Shuffle{Rows: p * k, Balance: &b}} {
			s, err := NewSampler(how, labels, 7)
			if err != nil {
				t.Fatal(err)
			}
			epoch := s.Epoch(3)
			if !cmp.Equal(s.Epoch(3), epoch) {
				t.Fatalf("%T: the same epoch drawn again differs", how)
			}
			if _, any := how.(Shuffle); !any {
				_, grouped := how.(Groups)
				if wrong := checkEpoch(epoch, labels, p, k, s.Batches(), grouped); wrong != "" {
					t.Fatalf("%T: %s", how, wrong)
				}
				continue
			}
			seen, left := make([]int, len(labels)), 0
			for _, batch := range epoch {
				for _, row := range batch {
					seen[row]++
				}
			}
			for _, n := range sizes {
				most := slices.Max(sizes)
				left += max(n, int(math.Round(float64(most)*math.Pow(float64(n)/float64(most), b))))
			}
			for _, n := range seen {
				left -= n
			}
			if seen[len(labels)-1] > 0 || left < 0 || left >= s.Size() {
				t.Fatalf("shuffle leaves out %d rows of an epoch, batches of %d", left, s.Size())
			}
		}
	})
}

// The share of the batches' places that classes of 4, 20 and 100 rows take.
func TestBalanceShares(t *testing.T) {
	var labels []int
	for class, n := range []int{4, 20, 100} {
		for range n {
			labels = append(labels, class)
		}
	}
	for _, c := range []struct {
		how  func(b *float64) Sampling
		b    float64
		want [3]float64
	}{
		{func(b *float64) Sampling { return Groups{Classes: 1, Images: 4, Balance: b} }, 0,
			[3]float64{1. / 3, 1. / 3, 1. / 3}},
		{func(b *float64) Sampling { return Groups{Classes: 1, Images: 4, Balance: b} }, 0.5,
			[3]float64{5. / 41, 11. / 41, 25. / 41}},
		{func(b *float64) Sampling { return Groups{Classes: 1, Images: 4, Balance: b} }, 1,
			[3]float64{1. / 31, 5. / 31, 25. / 31}},
		{func(b *float64) Sampling { return Uniform{Classes: 1, Images: 4, Balance: b} }, 0,
			[3]float64{1. / 3, 1. / 3, 1. / 3}},
		{func(b *float64) Sampling { return Uniform{Classes: 1, Images: 4, Balance: b} }, 1,
			[3]float64{4. / 124, 20. / 124, 100. / 124}},
		{func(b *float64) Sampling { return Shuffle{Rows: 2, Balance: b} }, 0, [3]float64{1. / 3, 1. / 3, 1. / 3}},
		{func(b *float64) Sampling { return Shuffle{Rows: 2, Balance: b} }, 0.5,
			[3]float64{20. / 165, 45. / 165, 100. / 165}},
	} {
		s, err := NewSampler(c.how(&c.b), labels, 3)
		if err != nil {
			t.Fatal(err)
		}
		var got [3]float64
		all := 0.0
		for e := range 200 {
			for _, batch := range s.Epoch(e) {
				for _, row := range batch {
					got[labels[row]]++
					all++
				}
			}
		}
		for class := range got {
			if share := got[class] / all; math.Abs(share-c.want[class]) > 0.02 {
				t.Errorf("%T at %v: class %d takes %.3f of the places, expected %.3f", c.how(nil), c.b, class, share,
					c.want[class])
			}
		}
	}
}

// Without a balance, a variant uses its default, bit for bit as before balances existed.
func TestUsualBalance(t *testing.T) {
	labels := make([]int, 90)
	for i := range labels {
		labels[i] = i * i % 11 % 7
	}
	for _, c := range []struct {
		none, usual Sampling
		sum         uint32
	}{
		{Groups{Classes: 3, Images: 4}, Groups{Classes: 3, Images: 4, Balance: new(1.0)}, 0xc91ef7fc},
		{Uniform{Classes: 3, Images: 4}, Uniform{Classes: 3, Images: 4, Balance: new(0.0)}, 0xc92131f3},
		{Shuffle{Rows: 16}, Shuffle{Rows: 16, Balance: new(1.0)}, 0x37764fe1},
	} {
		none, _ := NewSampler(c.none, labels, 5)
		usual, _ := NewSampler(c.usual, labels, 5)
		sum := crc32.ChecksumIEEE(fmt.Append(nil, none.Epoch(0), none.Epoch(9)))
		if !cmp.Equal(none.Epoch(2), usual.Epoch(2)) || sum != c.sum {
			t.Errorf("%T: checksum %#x, expected %#x, and the same with its usual balance", c.none, sum, c.sum)
		}
	}
}

// A class that occurs as often as one a million times larger would make an epoch too long for memory.
func TestBalanceBoundsTheEpoch(t *testing.T) {
	labels := make([]int, 200_000)
	for i := range 1000 {
		labels[i] = i + 1
	}
	for _, how := range []Sampling{Groups{Classes: 2, Images: 2, Balance: new(0.0)},
		Shuffle{Rows: 4, Balance: new(0.0)}} {
		if _, err := NewSampler(how, labels, 1); err == nil ||
			!strings.Contains(err.Error(), "makes an epoch of 1991") {
			t.Errorf("%T: %v", how, err)
		}
	}
}
