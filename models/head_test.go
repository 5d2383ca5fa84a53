package models

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/head"
	"winnow/internal/testing/memory"
)

var sampleMeta = HeadMeta{ModelSHA256: "ab12", Output: "pool", Preprocessing: `{"crop":224}`, ConfigSHA256: "cd34",
	Winnow: "test", Seed: 1<<63 + 7}

func sampleHead(t testing.TB) *head.Head {
	t.Helper()
	cfg := head.Config{In: 5, Out: 3, Bias: true, Init: head.Random}
	h, err := head.New(t.Context(), cfg, blas32.General{}, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func sampleFile(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encodeHead(&b, sampleHead(t), sampleMeta); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sealed appends the right checksum to a modified body.
func sealed(body []byte) []byte {
	sum := sha256.Sum256(body)
	return append(slices.Clone(body), sum[:]...)
}

// withHeader returns a file with a modified header and the right checksum.
func withHeader(t testing.TB, change func(*headHeader)) []byte {
	t.Helper()
	data := sampleFile(t)
	length := binary.LittleEndian.Uint32(data[len(headMagic)+4:])
	payload := data[headPrefix+int(length) : len(data)-sha256.Size]
	var header headHeader
	if err := json.Unmarshal(data[headPrefix:headPrefix+int(length)], &header); err != nil {
		t.Fatal(err)
	}
	change(&header)
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	out := slices.Clone(data[:len(headMagic)+4])
	out = binary.LittleEndian.AppendUint32(out, uint32(len(text)))
	return sealed(append(append(out, text...), payload...))
}

func TestHeadRoundTrip(t *testing.T) {
	want := sampleHead(t)
	path := filepath.Join(t.TempDir(), "head.bin")
	if err := WriteHead(path, want, sampleMeta); err != nil {
		t.Fatal(err)
	}
	got, meta, err := ReadHead(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sampleMeta, meta); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want.Config(), got.Config()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want.Params(), got.Params()); diff != "" {
		t.Error(diff)
	}
}

func TestHeadTruncated(t *testing.T) {
	data := sampleFile(t)
	for n := range len(data) {
		_, _, err := decodeHead(data[:n])
		want := ErrHeadDamaged
		if n < len(headMagic) {
			want = ErrNotHead
		}
		if !errors.Is(err, want) {
			t.Fatalf("cut to %d bytes: %v, expected %v", n, err, want)
		}
	}
	if _, _, err := decodeHead(append(data, 0)); !errors.Is(err, ErrHeadDamaged) {
		t.Errorf("one byte too many: %v", err)
	}
}

func TestHeadFlipped(t *testing.T) {
	data := sampleFile(t)
	for i := range data {
		for bit := range 8 {
			bad := slices.Clone(data)
			bad[i] ^= 1 << bit
			want := ErrHeadDamaged
			switch {
			case i < len(headMagic):
				want = ErrNotHead
			case i < len(headMagic)+4:
				want = ErrHeadVersion
			}
			if _, _, err := decodeHead(bad); !errors.Is(err, want) {
				t.Fatalf("bit %d of byte %d flipped: %v, expected %v", bit, i, err, want)
			}
		}
	}
}

// ReadHead rejects complete files with the right checksum but wrong contents.
func TestHeadContradicts(t *testing.T) {
	huge := slices.Clone(sampleFile(t))
	binary.LittleEndian.PutUint32(huge[len(headMagic)+4:], 1<<31)
	nan := slices.Clone(sampleFile(t))
	copy(nan[len(nan)-sha256.Size-4:], []byte{0, 0, 0xc0, 0x7f})
	for what, c := range map[string]struct {
		data []byte
		word string
	}{
		"header length": {sealed(huge[:len(huge)-sha256.Size]), "length"},
		"value":         {sealed(nan[:len(nan)-sha256.Size]), "NaN"},
		"wider head":    {withHeader(t, func(h *headHeader) { h.Config.Out = 4 }), "parameters"},
		"no dimension":  {withHeader(t, func(h *headHeader) { h.Config.In = 0 }), "in:"},
		"gigantic":      {withHeader(t, func(h *headHeader) { h.Config.In, h.Config.Out = 1<<20, 1<<20 }), "weights"},
		"shape":         {withHeader(t, func(h *headHeader) { h.Params[0].Rows++ }), "parameters"},
		"too few values": {withHeader(t, func(h *headHeader) { h.Config.Out = 4; h.Params = h.Config.Shapes() }),
			"bytes of values"},
		"unknown setting": {withHeader(t, func(h *headHeader) { h.Config.Init = "magic" }), "init"},
	} {
		_, _, err := decodeHead(c.data)
		if err == nil || errors.Is(err, ErrHeadDamaged) || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: %v, expected an error about %q", what, err, c.word)
		}
	}
}

// A write that fails leaves the old file intact.
func TestWriteHeadKeepsOld(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "head.bin")
	if err := WriteHead(path, sampleHead(t), sampleMeta); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tooLong := sampleMeta
	tooLong.Output = strings.Repeat("x", maxHeader)
	if err := WriteHead(path, sampleHead(t), tooLong); err == nil {
		t.Error("a header over the limit was written")
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Error("a failed write changed the file")
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// FuzzReadHead: any bytes give an error or a head that writes back to the same bytes. The checksum is corrected
// first; without that nothing after it would be reached.
func FuzzReadHead(f *testing.F) {
	f.Add([]byte{})
	data := sampleFile(f)
	f.Add(data[:len(data)-sha256.Size])
	f.Fuzz(func(t *testing.T, body []byte) {
		var h *head.Head
		var meta HeadMeta
		var err error
		memory.Check(t, 16<<20+64*uint64(len(body)), func() { h, meta, err = decodeHead(sealed(body)) })
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		if err := encodeHead(&first, h, meta); err != nil {
			t.Fatal(err)
		}
		again, meta2, err := decodeHead(first.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if err := encodeHead(&second, again, meta2); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Error("a head that was read does not survive writing")
		}
	})
}
