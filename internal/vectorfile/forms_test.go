package vectorfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/features"
	"winnow/internal/atomicfile"
)

var two = []Row{
	{Path: "a\tb.png", Label: "ü", Split: "train", Embedding: []float32{1, -2}},
	{Path: "ÿ\U0001F426", Embedding: []float32{0.5, math.SmallestNonzeroFloat32}},
}

const twoValues = "\x00\x00\x80\x3f\x00\x00\x00\xc0" + "\x00\x00\x00\x3f\x01\x00\x00\x00"

// npy is an array of less than 128 bytes of header, by numpy.lib.format, version 1.0.
func npy(header, data string) string {
	return "\x93NUMPY\x01\x00\x76\x00" + header + strings.Repeat(" ", 117-len(header)) + "\n" + data
}

// stored is a zip file by PKWARE's note: members as they are, their sums behind them, and the list of them.
func stored(members ...string) string {
	var out, list []byte
	le, count := binary.LittleEndian, uint16(len(members)/2)
	for i := 0; i < len(members); i += 2 {
		name, data := members[i], members[i+1]
		at, size := uint32(len(out)), uint32(len(data))
		// Version 2.0, sums stand behind (bit 3), stored, no time.
		common := "\x14\x00\x08\x00\x00\x00\x00\x00\x00\x00"
		out = append(append(out, "PK\x03\x04"+common...), make([]byte, 12)...)
		out = le.AppendUint16(le.AppendUint16(out, uint16(len(name))), 0)
		out = append(out, name+data+"PK\x07\x08"...)
		sums := le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, crc32.ChecksumIEEE([]byte(data))), size), size)
		out = append(out, sums...)
		list = append(append(list, "PK\x01\x02\x14\x00"+common...), sums...)
		list = append(le.AppendUint16(list, uint16(len(name))), make([]byte, 12)...)
		list = append(le.AppendUint32(list, at), name...)
	}
	end := le.AppendUint16(le.AppendUint16([]byte("PK\x05\x06\x00\x00\x00\x00"), count), count)
	end = le.AppendUint16(le.AppendUint32(le.AppendUint32(end, uint32(len(list))), uint32(len(out))), 0)
	return string(slices.Concat(out, list, end))
}

// The bytes of small files, by the formats' descriptions.
func TestFormsByTheirDescriptions(t *testing.T) {
	const ids = "row,path,label,split\n0,a\tb.png,ü,train\n1,ÿ\U0001F426,,\n"
	zeros := func(n int) string { return strings.Repeat("\x00", n) }
	utf32 := func(chars ...uint32) (s string) {
		for _, c := range chars {
			s += string(binary.LittleEndian.AppendUint32(nil, c))
		}
		return s
	}
	matrix := npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", twoValues)
	for form, want := range map[Form][2]string{
		NPY: {matrix, ids},
		npz: {stored(
			"embeddings.npy", matrix,
			"paths.npy", npy("{'descr': '<U7', 'fortran_order': False, 'shape': (2,), }",
				utf32('a', '\t', 'b', '.', 'p', 'n', 'g', 0xFF, 0x1F426)+zeros(20)),
			"labels.npy", npy("{'descr': '<U1', 'fortran_order': False, 'shape': (2,), }", utf32('ü', 0)),
			"splits.npy", npy("{'descr': '<U5', 'fortran_order': False, 'shape': (2,), }",
				utf32('t', 'r', 'a', 'i', 'n')+zeros(20)),
		)},
		safetensors: {"\x48" + zeros(7) + `{"embeddings":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}      ` +
			twoValues, ids},
		fVecs: {"\x02\x00\x00\x00" + twoValues[:8] + "\x02\x00\x00\x00" + twoValues[8:], ids},
		tsv:   {"1\t-2\n0.5\t1e-45\n", "path\tlabel\tsplit\na b.png\tü\ttrain\nÿ\U0001F426\t\t\n"},
	} {
		files := form.Files(filepath.Join(t.TempDir(), "e."+string(form)))
		if (len(files) == 2) != (want[1] != "") {
			t.Errorf("%s: writes %v", form, files)
			continue
		}
		both := map[string]func() error{
			"rows": func() error { return WriteRows(files[0], form, 2, atomicfile.Write, two) },
			"one after another": func() error {
				return Write(files[0], form, 2, atomicfile.Write, func(w Writer) error {
					return errors.Join(w.Write(two[:1]), w.Write(nil), w.Write(two[1:]), w.Close())
				})
			},
		}
		for name, write := range both {
			if err := write(); err != nil {
				t.Fatal(err)
			}
			for i, file := range files {
				got, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if string(got) != want[i] {
					t.Errorf("%s, %s: %s is\n%q, expected\n%q", form, name, filepath.Base(file), got, want[i])
				}
			}
		}
	}
}

// decode reads the values of a file back, and from a npz also what the rows are.
func decode(t *testing.T, form Form, b []byte, dim int) (values []float32, rows []Row) {
	t.Helper()
	fail := func(err error) {
		if err != nil {
			t.Fatal(form, err)
		}
	}
	bits := func(b []byte) {
		for ; len(b) > 0; b = b[4:] {
			values = append(values, math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
	}
	switch form {
	case NPY:
		a, err := features.ReadNPY(bytes.NewReader(b), int64(len(b)))
		fail(err)
		values = a.Floats
	case npz:
		z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		fail(err)
		for _, f := range z.File {
			in, err := f.Open()
			fail(err)
			data, err := io.ReadAll(in) // checks the sum
			fail(err)
			if f.Name == "embeddings.npy" {
				values, _ = decode(t, NPY, data, dim)
				rows = make([]Row, len(values)/dim)
				continue
			}
			data = data[10+binary.LittleEndian.Uint16(data[8:]):]
			for i, width := 0, len(data)/max(len(rows), 1); i < len(rows); i++ {
				var text []rune
				for cell := data[i*width : (i+1)*width]; len(cell) > 0; cell = cell[4:] {
					text = append(text, rune(binary.LittleEndian.Uint32(cell)))
				}
				s := strings.TrimRight(string(text), "\x00")
				switch f.Name {
				case "paths.npy":
					rows[i].Path = s
				case "labels.npy":
					rows[i].Label = s
				case "splits.npy":
					rows[i].Split = s
				}
			}
		}
	case safetensors:
		n := binary.LittleEndian.Uint64(b)
		var header map[string]struct {
			DType   string `json:"dtype"`
			Shape   []int  `json:"shape"`
			Offsets []int  `json:"data_offsets"`
		}
		fail(json.Unmarshal(b[8:8+n], &header))
		tensor, data := header["embeddings"], b[8+n:]
		if n%8 != 0 || tensor.DType != "F32" || len(tensor.Shape) != 2 || tensor.Shape[1] != dim ||
			!slices.Equal(tensor.Offsets, []int{0, len(data)}) || 4*dim*tensor.Shape[0] != len(data) {
			t.Fatalf("header %s before %d bytes", b[8:8+n], len(data))
		}
		bits(data)
	case fVecs:
		for ; len(b) > 0; b = b[4+4*dim:] {
			if d := binary.LittleEndian.Uint32(b); d != uint32(dim) {
				t.Fatalf("a row of %d values", d)
			}
			bits(b[4 : 4+4*dim])
		}
	case tsv:
		for line := range strings.Lines(string(b)) {
			for text := range strings.SplitSeq(strings.TrimSuffix(line, "\n"), "\t") {
				v, err := strconv.ParseFloat(text, 32)
				fail(err)
				values = append(values, float32(v))
			}
		}
	}
	return values, rows
}

func TestValuesRoundTripBitForBit(t *testing.T) {
	const dim = 3
	for _, n := range []int{0, 1, 5000} {
		rows := sample(n)
		if n > 1 {
			rows[1].Embedding = []float32{float32(math.Inf(-1)), float32(math.Copysign(0, -1)),
				math.Float32frombits(0x3f7fffff)}
		}
		for _, form := range []Form{NPY, npz, safetensors, fVecs, tsv} {
			path := filepath.Join(t.TempDir(), "e."+string(form))
			if err := Write(path, form, dim, atomicfile.Write,
				func(w Writer) error { return writeAll(w, rows) }); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			values, named := decode(t, form, b, dim)
			if len(values) != n*dim {
				t.Errorf("%s: %d values, expected %d", form, len(values), n*dim)
				continue
			}
			for i, v := range values {
				if want := rows[i/dim].Embedding[i%dim]; math.Float32bits(v) != math.Float32bits(want) {
					t.Fatalf("%s: row %d, value %d: %v, expected %v", form, i/dim, i%dim, v, want)
				}
			}
			for i, r := range named {
				if want := rows[i]; r.Path != want.Path || r.Label != want.Label || r.Split != want.Split {
					t.Fatalf("%s: row %d is %+v, expected %+v", form, i, r, want)
				}
			}
			if beside := form.Beside(path); strings.HasSuffix(beside, ".ids.csv") {
				f, err := os.Open(beside)
				if err != nil {
					t.Fatal(err)
				}
				lines, err := csv.NewReader(f).ReadAll()
				f.Close()
				if err != nil || len(lines) != n+1 {
					t.Errorf("%s: %d lines, %v", beside, len(lines), err)
				}
			}
		}
	}
}

// A failure leaves the older files unchanged and nothing new.
func TestFailedWritesLeaveNothing(t *testing.T) {
	cut := errors.New("cut off")
	for _, form := range Forms {
		dir := t.TempDir()
		files := form.Files(filepath.Join(dir, "e."+string(form)))
		for _, file := range files {
			if err := os.WriteFile(file, []byte("older"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		err := Write(files[0], form, 2, atomicfile.Write,
			func(w Writer) error { return errors.Join(w.Write(two), cut) })
		if !errors.Is(err, cut) {
			t.Errorf("%s: %v", form, err)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != len(files) {
			t.Errorf("%s: the folder holds %v, %v", form, left, err)
		}
		for _, file := range files {
			if b, err := os.ReadFile(file); string(b) != "older" {
				t.Errorf("%s: %s holds %q, %v", form, file, b, err)
			}
		}
	}
	if err := Write("e.txt", "txt", 2, func(_ string,
		write func(io.Writer) error) error {
		return write(io.Discard)
	}, nil); err == nil || !strings.Contains(err.Error(), `form "txt" is unknown, expected one of [npy npz`) {
		t.Error(err)
	}
}

func TestFormOf(t *testing.T) {
	got := map[string]bool{}
	for _, path := range []string{"a.NPZ", "x/b.safetensors", "npy", "c.txt", "d", "e.fvecs.gz", ".tsv"} {
		_, got[path] = FormOf(path)
	}
	want := map[string]bool{"a.NPZ": true, "x/b.safetensors": true, "npy": false, "c.txt": false, "d": false,
		"e.fvecs.gz": false, ".tsv": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
