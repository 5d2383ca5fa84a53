package archive_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"winnow/train/archive"
)

// state is an example of a caller's state.
type state struct {
	Seed string `json:"seed"`
}

// sample is a small archive with arrays of several kinds.
func sample(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	arrays := []archive.Array{archive.Float32s("a", []float32{1, float32(math.Copysign(0, -1))}),
		archive.Float64s("b", []float64{math.Pi}),
		archive.Ints("c", []int{-1, 1 << 40}), archive.Uint32s("d", []uint32{7}), archive.Float32s("none", nil)}
	if err := archive.Write(&out, state{"1"}, arrays); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// readArchive reads an archive in memory.
func readArchive[T any](data []byte) (state T, arrays map[string]archive.Array, err error) {
	return archive.Read[T](bytes.NewReader(data), int64(len(data)))
}

// sealed appends the right checksum, so that the content is checked.
func sealed(data []byte) []byte {
	body := data[:max(0, len(data)-sha256.Size)]
	sum := sha256.Sum256(body)
	return append(slices.Clone(body), sum[:]...)
}

func TestArchiveRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.SliceOfN(rapid.Uint32(), 0, 40).Draw(t, "bits")
		f32, f64 := make([]float32, len(bits)), make([]float64, len(bits))
		for i, b := range bits {
			f32[i], f64[i] = math.Float32frombits(b&^(1<<22)), math.Float64frombits(uint64(b)<<29)
		}
		ints := rapid.SliceOfN(rapid.Int(), 0, 20).Draw(t, "ints")
		head := map[string]int{"x": rapid.Int().Draw(t, "x")}
		var out bytes.Buffer
		if err := archive.Write(&out, head, []archive.Array{archive.Float32s("f", f32), archive.Float64s("d", f64),
			archive.Ints("i", ints)}); err != nil {
			t.Fatal(err)
		}
		got, arrays, err := readArchive[map[string]int](out.Bytes())
		if err != nil || !cmp.Equal(got, head) || !slices.Equal(arrays["i"].Ints, ints) {
			t.Fatal(err, got, arrays["i"])
		}
		for i := range bits {
			if math.Float32bits(arrays["f"].F32[i]) != math.Float32bits(f32[i]) ||
				math.Float64bits(arrays["d"].F64[i]) != math.Float64bits(f64[i]) {
				t.Fatalf("number %d changed its bits", i)
			}
		}
	})
}

// Long arrays pass through the buffer in several pieces.
func TestArchiveLongArrays(t *testing.T) {
	long := make([]float32, 1<<17+3)
	for i := range long {
		long[i] = float32(i)
	}
	var out bytes.Buffer
	if err := archive.Write(&out, 0, []archive.Array{archive.Float32s("long", long)}); err != nil {
		t.Fatal(err)
	}
	if _, arrays, err := readArchive[int](out.Bytes()); err != nil || !slices.Equal(arrays["long"].F32, long) {
		t.Errorf("%v, or the numbers differ", err)
	}
}

func TestDamagedArchiveIsRefused(t *testing.T) {
	whole := sample(t)
	for n := range whole {
		if _, _, err := readArchive[state](whole[:n]); err == nil {
			t.Fatalf("cut to %d of %d bytes: accepted", n, len(whole))
		}
		flipped := slices.Clone(whole)
		flipped[n] ^= 0x10
		if _, _, err := readArchive[state](flipped); err == nil {
			t.Fatalf("bit flipped in byte %d: accepted", n)
		}
	}
	other := slices.Clone(whole)
	other[8] = 9
	if _, _, err := readArchive[state](sealed(other)); err == nil || err.Error() != "format version is 9, expected 2" {
		t.Errorf("version 9: %v", err)
	}
	if _, _, err := readArchive[state](append(slices.Clone(whole), 0)); err == nil {
		t.Error("a byte more: accepted")
	}
}

// Sizes that the file does not confirm must not be believed, let alone allocated.
func TestArchiveSizesAreChecked(t *testing.T) {
	build := func(header string, headerLen uint32, payload int) []byte {
		b := []byte("WINNOWCK")
		b = binary.LittleEndian.AppendUint32(b, 2)
		b = binary.LittleEndian.AppendUint32(b, headerLen)
		b = append(append(b, header...), make([]byte, payload)...)
		return sealed(append(b, make([]byte, sha256.Size)...))
	}
	for name, c := range map[string]struct {
		header  string
		payload int
		want    string
	}{
		"huge": {`{"state":{},"arrays":[{"name":"a","kind":"f32","len":4611686018427387905}]}`, 4,
			"do not fit the 4 bytes left"},
		"negative": {`{"state":{},"arrays":[{"name":"a","kind":"f32","len":-1}]}`, 4, "do not fit"},
		"kind":     {`{"state":{},"arrays":[{"name":"a","kind":"f16","len":1}]}`, 4, `kind "f16"`},
		"twice": {`{"state":{},"arrays":[{"name":"a","kind":"f32","len":1},{"name":"a","kind":"f32","len":1}]}`,
			8, "come twice"},
		"too many":    {`{"state":{},"arrays":[{"name":"a","kind":"f32","len":1}]}`, 8, "4 bytes too many"},
		"unknown key": {`{"state":{"colour":1},"arrays":[]}`, 0, `unknown field "colour"`},
	} {
		if _, _, err := readArchive[state](build(c.header, uint32(len(c.header)), c.payload)); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected …%s…", name, err, c.want)
		}
	}
	if _, _, err := readArchive[state](build("{}", 1<<31, 0)); err == nil ||
		!strings.Contains(err.Error(), "header of 2147483648 bytes") {
		t.Errorf("header length: %v", err)
	}
}
