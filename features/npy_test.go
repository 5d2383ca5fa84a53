package features

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// numpyFiles were written by numpy 1.24.2 with np.lib.format.write_array(f, a, version=v):
//
//	float32   np.arange(6, dtype='<f4').reshape(2,3) / 4, version (1,0)
//	float64   np.array([[1.5, -2]], dtype='<f8'), version (2,0)
//	float16   np.array([0, -0.0, 1, -2.5, 65504, 6e-8, np.inf], dtype='<f2'), version (3,0)
//	int64     np.array([3, -1], dtype='<i8'), version (1,0)
//
// The spaces of the headers are left out; unpack inserts them.
var numpyFiles = map[string]string{
	"float32": `934e554d505901007600{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }|000000000000803e0000003f0000403f0000803f0000a03f`,
	"float64": `934e554d5059020074000000{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }|000000000000f83f00000000000000c0`,
	"float16": `934e554d5059030074000000{'descr': '<f2', 'fortran_order': False, 'shape': (7,), }|00000080003c00c1ff7b0100007c`,
	"int64":   `934e554d505901007600{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }|0300000000000000ffffffffffffffff`,
}

func unpack(t testing.TB, name string) []byte {
	t.Helper()
	text, data, ok := strings.Cut(numpyFiles[name], "|")
	if !ok {
		t.Fatalf("no file %q", name)
	}
	head, err := hex.DecodeString(text[:strings.Index(text, "{")])
	if err != nil {
		t.Fatal(err)
	}
	body, err := hex.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	dict := text[strings.Index(text, "{"):]
	pad := 128 - len(head) - len(dict) - 1
	return append(append(head, dict+strings.Repeat(" ", pad)+"\n"...), body...)
}

func TestReadNPYOfNumpy(t *testing.T) {
	inf := float32(math.Inf(1))
	want := map[string]Array{
		"float32": {Shape: []int{2, 3}, Floats: []float32{0, 0.25, 0.5, 0.75, 1, 1.25}},
		"float64": {Shape: []int{1, 2}, Floats: []float32{1.5, -2}},
		"float16": {Shape: []int{7}, Floats: []float32{0, float32(math.Copysign(0, -1)), 1, -2.5, 65504,
			1.0 / (1 << 24), inf}},
		"int64": {Shape: []int{2}, Ints: []int64{3, -1}},
	}
	for name, w := range want {
		data := unpack(t, name)
		got, err := ReadNPY(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestWriteNPYAsNumpy compares with numpy's output except for the spaces: numpy writes more spaces, so that the first
// axis can grow.
func TestWriteNPYAsNumpy(t *testing.T) {
	x := NewMatrix(2, 3)
	for i := range x.Data {
		x.Data[i] = float32(i) / 4
	}
	var out bytes.Buffer
	if err := WriteNPY(&out, x); err != nil {
		t.Fatal(err)
	}
	want := unpack(t, "float32")
	got := out.Bytes()
	if !bytes.Equal(got[:8], want[:8]) {
		t.Errorf("begins with %q", got[:8])
	}
	if !bytes.HasSuffix(got, want[128:]) {
		t.Errorf("values differ")
	}
	if len(got)%64 != 24 { // a header padded to a multiple of 64 bytes, and 24 bytes of values
		t.Errorf("%d bytes: header is not padded to 64", len(got))
	}
	if !strings.Contains(string(got), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }") {
		t.Errorf("header %q", got[10:])
	}
}

func TestNPYRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := NewMatrix(rapid.IntRange(0, 9).Draw(t, "rows"), rapid.IntRange(0, 300).Draw(t, "cols"))
		for i := range x.Data {
			x.Data[i] = math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
		}
		var out bytes.Buffer
		if err := WriteNPY(&out, x); err != nil {
			t.Fatal(err)
		}
		a, err := ReadNPY(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Matrix()
		if err != nil || got.Rows != x.Rows || got.Cols != x.Cols {
			t.Fatalf("%d×%d, %v", got.Rows, got.Cols, err)
		}
		for i := range x.Data {
			if math.Float32bits(x.Data[i]) != math.Float32bits(got.Data[i]) {
				t.Fatalf("value %d differs", i)
			}
		}
	})
}

func TestReadNPYRefuses(t *testing.T) {
	good := string(unpack(t, "float32"))
	change := func(from, to string) string { return strings.Replace(good, from, to, 1) }
	for name, c := range map[string]struct{ data, want string }{
		"empty":      {"", "found 0 bytes"},
		"text":       {"path,label\n1.jpg,3\n", "not an npy file"},
		"version":    {change("\x01\x00", "\x04\x00"), "npy version 4.0"},
		"header":     {good[:60], "header is cut short"},
		"cut":        {good[:len(good)-1], "23 bytes of data"},
		"long":       {good + "x", "25 bytes of data"},
		"fortran":    {change("False", "True "), "Fortran order"},
		"big endian": {change("<f4", ">f4"), `element type ">f4"`},
		"object":     {change("'<f4'", "'|O' "), "element type"},
		"negative":   {change("(2, 3)", "(2,-3)"), "expected descr"},
		"huge":       {change("(2, 3), }", "(9223372036854775807, 4), }"), "more elements"},
		"lies":       {change("(2, 3), }", "(20000000, 3000000), }"), "of data for shape [20000000 3000000]"},
		"no dict":    {change("{'d", "['d"), "expected descr"},
		"key":        {change("'descr'", "'descx'"), "expected descr"},
		"twice":      {change("'shape'", "'descr'"), "expected descr"},
		"long head":  {"\x93NUMPY\x02\x00\xff\xff\xff\x7f", "header of 2147483647 bytes"},
	} {
		_, err := ReadNPY(strings.NewReader(c.data), int64(len(c.data)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func FuzzReadNPY(f *testing.F) {
	for name := range numpyFiles {
		f.Add(unpack(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := ReadNPY(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		n := 1
		for _, d := range a.Shape {
			n *= d
		}
		if n != len(a.Floats)+len(a.Ints) || n > len(data) {
			t.Fatalf("shape %v, %d floats, %d ints of %d bytes", a.Shape, len(a.Floats), len(a.Ints), len(data))
		}
		if m, err := a.Matrix(); err == nil { // a file read as a matrix can be written and read back
			var out bytes.Buffer
			if err := WriteNPY(&out, m); err != nil {
				t.Fatal(err)
			}
			back, err := ReadNPY(&out, int64(out.Len()))
			if err != nil || len(back.Floats) != len(a.Floats) {
				t.Fatalf("written and read again: %v", err)
			}
		}
	})
}

// A Git LFS pointer instead of the file is reported as such.
func TestPointerAsNPY(t *testing.T) {
	text := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 12345\n"
	_, err := readNPYHeader(strings.NewReader(text))
	if err == nil || !strings.Contains(err.Error(), "Git LFS pointer") {
		t.Error(err)
	}
}
