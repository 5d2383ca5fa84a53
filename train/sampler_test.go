package train

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// checkEpoch describes the first error in an epoch of PK batches, or returns "" if the epoch is correct.
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
				t.Fatalf("batch of %d rows, but Size returns %d", len(batch), s.Size())
			}
		}
		again, _ := NewSampler(byClass(grouped, p, k), labels, seed)
		again.Epoch(e + 1) // an epoch does not depend on epochs drawn before
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

// An epoch of shuffled rows consists of whole batches and has each labelled row at most once. The next epoch has a
// different order, and rows left out of one epoch occur in another.
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
			t.Fatalf("40 epochs contain %d of %d rows", len(seen), labelled)
		}
	})
}

// byClass returns one of the two samplings that draw classes: Groups if grouped, otherwise Uniform.
func byClass(grouped bool, classes, images int) Sampling {
	if grouped {
		return Groups{Classes: classes, Images: images}
	}
	return Uniform{Classes: classes, Images: images}
}

func TestRandIsAFunctionOfItsArguments(t *testing.T) {
	base := Rand(1, "sampler", 2).Uint64()
	if Rand(1, "sampler", 2).Uint64() != base {
		t.Error("equal arguments give different draws")
	}
	for name, other := range map[string]uint64{
		"seed": Rand(2, "sampler", 2).Uint64(), "purpose": Rand(1, "samples", 2).Uint64(),
		"moment": Rand(1, "sampler", 3).Uint64(),
	} {
		if other == base {
			t.Errorf("a different %s gives the same draw", name)
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

// Each yields the same batches as Epoch returns.
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
