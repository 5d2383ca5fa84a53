package parts

import (
	"bytes"
	"encoding/gob"
	"errors"
	"io"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type leaf struct {
	Name  string
	Found []float32
	Named map[string]int
}

type tree struct {
	Options struct{ K int }
	When    time.Time
	Count   []int64
	Sums    [][4]byte
	Leaves  []leaf
	Deep    *tree
	Lists   [][]int
	Number  big.Int
	Nothing []int
}

func grown(n int) tree {
	t := tree{When: time.Date(2026, 11, 25, 1, 2, 3, 4, time.UTC), Count: make([]int64, n), Sums: make([][4]byte, n), Lists: [][]int{nil, make([]int, n), {7}}}
	t.Options.K = n
	t.Number.Lsh(big.NewInt(3), uint(n))
	for i := range n {
		t.Count[i], t.Sums[i], t.Lists[1][i] = int64(i)<<40, [4]byte{byte(i), 1}, -i
		t.Leaves = append(t.Leaves, leaf{strings.Repeat("x", i%7), make([]float32, i%11+1), map[string]int{"a": i}})
	}
	t.Leaves = append(t.Leaves, leaf{Name: "large", Found: make([]float32, 10*n)})
	return t
}

// largest notes the largest write: gob writes each message by one.
type largest struct {
	bytes.Buffer
	most, count int
}

func (l *largest) Write(b []byte) (int, error) {
	l.most, l.count = max(l.most, len(b)), l.count+1
	return l.Buffer.Write(b)
}

var byValue = cmp.Comparer(func(a, b big.Int) bool { return a.Cmp(&b) == 0 })

// Values come back as they were from messages that are small, however large they are.
func TestMessages(t *testing.T) {
	want := grown(1000)
	inner := grown(300)
	want.Deep = &inner
	for _, most := range []int{1 << 30, 1 << 14, 1 << 10} {
		var w largest
		if err := writeValue(&w, want, most); err != nil {
			t.Fatal(err)
		}
		if limit := most + most/4 + 600; w.most > limit { // gob takes up to a tenth more for an integer, and describes types
			t.Errorf("up to %d: a message of %d bytes in %d, expected at most %d", most, w.most, w.Len(), limit)
		}
		if most < w.Len() && w.count < w.Len()/most {
			t.Errorf("up to %d: %d bytes in %d messages", most, w.Len(), w.count)
		}
		text := w.Bytes()
		var got tree
		if err := readValue(gob.NewDecoder(bytes.NewReader(text)), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, byValue); diff != "" {
			t.Errorf("up to %d (-want +got):\n%.2000s", most, diff)
		}
		var some struct {
			Options struct{ K int }
			Sums    [][4]byte
		}
		if err := readValue(gob.NewDecoder(bytes.NewReader(text)), &some); err != nil || some.Options.K != 1000 || !cmp.Equal(some.Sums, want.Sums) {
			t.Errorf("up to %d: of a few fields: %v, %+v", most, err, some.Options)
		}
		for _, cut := range []int{0, 1, len(text) / 3, len(text) - 1} {
			var half tree
			if err := readValue(gob.NewDecoder(bytes.NewReader(text[:cut])), &half); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("up to %d: of %d bytes: %v", most, cut, err)
			}
		}
	}
	var w bytes.Buffer
	if err := writeValue(&w, grown(100), 100); err != nil {
		t.Fatal(err)
	}
	var other []tree
	if err := readValue(gob.NewDecoder(&w), &other); err == nil || !strings.Contains(err.Error(), "found a struct, expected a slice") {
		t.Error(err)
	}
}

// A value is read whole, or as far as it is asked for, from the part that a job made of it.
func TestValue(t *testing.T) {
	out := t.TempDir() + "/out"
	for i := 1; i <= 2; i++ {
		if _, err := Make(t.Context(), out, header(t, i, 2), MakeValue(func() (tree, error) { return grown(10 * i), nil })); err != nil {
			t.Fatal(err)
		}
	}
	w, err := Look(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Values[tree](w)
	if err != nil || len(list) != 2 {
		t.Fatal(len(list), err)
	}
	if diff := cmp.Diff([]tree{grown(10), grown(20)}, list, byValue); diff != "" {
		t.Error(diff)
	}
	if _, err := Value[[]string](&w.Parts[0]); err == nil || !strings.Contains(err.Error(), "another version of winnow?") {
		t.Error(err)
	}
}
