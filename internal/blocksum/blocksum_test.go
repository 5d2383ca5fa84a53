package blocksum

import (
	"bytes"
	"testing"
)

// A changed byte is found in its block and in no other, once.
func TestCompare(t *testing.T) {
	data := make([]byte, 3*Size+100)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	var sums bytes.Buffer
	if err := Write(&sums, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	if sums.Len() != 4*Width || Blocks(int64(len(data))) != 4 {
		t.Fatalf("%d bytes of sums for %d blocks, expected 8 each of 4", sums.Len(), Blocks(int64(len(data))))
	}
	for _, at := range []int64{0, Size - 1, Size, 3*Size + 99} {
		s := New(Decode(sums.Bytes()), int64(len(data)))
		data[at] ^= 4
		first, last, ok := s.Compare(data, 0)
		if ok || at < first || at > last || first%Size != 0 || last > int64(len(data))-1 {
			t.Errorf("byte %d: found %d to %d, %v", at, first, last, ok)
		}
		data[at] ^= 4
		if from, to := s.Around(at, at+1); from != first || to != last+1 {
			t.Errorf("around byte %d: %d to %d", at, from, to)
		}
		if _, _, ok := s.Compare(data[Size:], Size); !ok || !s.Compared(Size, int64(len(data))) ||
			s.Compared(Size-1, Size) != (first > 0) {
			t.Errorf("byte %d: the rest is not compared", at)
		}
	}
}

// Many blocks are compared on all cores, and the first that differs is named.
func TestCompareMany(t *testing.T) {
	data := make([]byte, 100*Size-5)
	var sums bytes.Buffer
	if err := Write(&sums, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	data[99*Size], data[42*Size+7], data[43*Size] = 1, 1, 1
	s := New(Decode(sums.Bytes()), int64(len(data)))
	if first, last, ok := s.Compare(data[Size:], Size); ok || first != 42*Size || last != 43*Size-1 {
		t.Errorf("found %d to %d, %v, expected block 42", first, last, ok)
	}
	data[99*Size], data[42*Size+7], data[43*Size] = 0, 0, 0
	if _, _, ok := s.Compare(data, 0); !ok || !s.Compared(0, int64(len(data))) {
		t.Error("mended, and not found equal")
	}
}
