package features

import (
	"bytes"
	"testing"
)

// A changed byte is found in its own block only.
func TestCompare(t *testing.T) {
	data := make([]byte, 3*sumBlock+100)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	var sums bytes.Buffer
	if err := writeSumsOf(&sums, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	if sums.Len() != 4*sumWidth || countBlocks(int64(len(data))) != 4 {
		t.Fatalf("%d bytes of sums for %d blocks, expected 8 each of 4", sums.Len(), countBlocks(int64(len(data))))
	}
	for _, at := range []int64{0, sumBlock - 1, sumBlock, 3*sumBlock + 99} {
		s := newBlockSums(decodeBlockSums(sums.Bytes()), int64(len(data)))
		data[at] ^= 4
		first, last, ok := s.compareAll(data, 0)
		if ok || at < first || at > last || first%sumBlock != 0 || last > int64(len(data))-1 {
			t.Errorf("byte %d: found %d to %d, %v", at, first, last, ok)
		}
		data[at] ^= 4
		if from, to := s.widenToBlocks(at, at+1); from != first || to != last+1 {
			t.Errorf("around byte %d: %d to %d", at, from, to)
		}
		if _, _, ok := s.compareAll(data[sumBlock:], sumBlock); !ok || !s.hasCompared(sumBlock, int64(len(data))) ||
			s.hasCompared(sumBlock-1, sumBlock) != (first > 0) {
			t.Errorf("byte %d: the rest is not compared", at)
		}
	}
}

// Many blocks are verified on all cores, and the first block that differs is returned.
func TestCompareMany(t *testing.T) {
	data := make([]byte, 100*sumBlock-5)
	var sums bytes.Buffer
	if err := writeSumsOf(&sums, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	data[99*sumBlock], data[42*sumBlock+7], data[43*sumBlock] = 1, 1, 1
	s := newBlockSums(decodeBlockSums(sums.Bytes()), int64(len(data)))
	if first, last, ok := s.compareAll(data[sumBlock:], sumBlock); ok || first != 42*sumBlock || last != 43*sumBlock-1 {
		t.Errorf("found %d to %d, %v, expected block 42", first, last, ok)
	}
	data[99*sumBlock], data[42*sumBlock+7], data[43*sumBlock] = 0, 0, 0
	if _, _, ok := s.compareAll(data, 0); !ok || !s.hasCompared(0, int64(len(data))) {
		t.Error("restored, but still found different")
	}
}
