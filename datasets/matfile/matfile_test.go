package matfile_test

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets/matfile"
	"winnow/internal/testing/mattest"
	"winnow/internal/testing/memory"
	"winnow/internal/testing/reference"
)

// zoo has an array of every kind that is read.
func zoo() []*matfile.Array {
	return []*matfile.Array{
		mattest.Numbers("labels", 1, 2.5, -3, 1e300),
		{Name: "grid", Class: matfile.Single, Dims: []int{2, 3, 2},
			Numbers: []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
		{Name: "phase", Class: matfile.Double, Dims: []int{1, 2}, Numbers: []float64{1, 2}, Imag: []float64{3, 4}},
		{Name: "none", Class: matfile.Double, Dims: []int{0, 0}, Numbers: []float64{}},
		mattest.Texts("names", "Ram C/V Cargo Van", "Škoda", "", "a"),
		mattest.Struct("annotations", []string{"class", "fname"},
			[]*matfile.Array{mattest.Numbers("", 14), mattest.Text("00001.jpg")},
			[]*matfile.Array{mattest.Numbers("", 3), mattest.Text("00002.jpg")}),
		{Name: "deep", Class: matfile.Cell, Dims: []int{1, 1}, Cells: []*matfile.Array{mattest.Texts("", "x")}},
	}
}

// forms are the ways a file can be written.
var forms = map[string]mattest.Options{
	"little": {}, "big": {Order: binary.BigEndian}, "compressed": {Compress: true},
	"big compressed": {Order: binary.BigEndian, Compress: true},
}

func TestRoundTrip(t *testing.T) {
	for name, form := range forms {
		got, err := matfile.Parse(mattest.File(form, zoo()...))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(zoo(), got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	list, _ := matfile.Parse(mattest.File(mattest.Options{}, zoo()...))
	annos := matfile.Find(list, "annotations")
	if annos.Len() != 2 || annos.Field(1, "fname").Text != "00002.jpg" || annos.Field(0, "class").Numbers[0] != 14 ||
		annos.Field(0, "bbox") != nil {
		t.Errorf("found %+v", annos)
	}
	if matfile.Find(list, "nothing") != nil {
		t.Error("found a variable that is not there")
	}
}

// element returns one data element in a little-endian file.
func element(kind int, data ...byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(kind))
	b = append(binary.LittleEndian.AppendUint32(b, uint32(len(data))), data...)
	return append(b, make([]byte, -len(b)&7)...)
}

// matrix returns an array of one row with the given data.
func matrix(class byte, n int, data ...byte) []byte {
	dims := binary.LittleEndian.AppendUint32([]byte{1, 0, 0, 0}, uint32(n))
	body := append(element(6, class, 0, 0, 0, 0, 0, 0, 0), element(5, dims...)...)
	return element(14, append(append(body, element(1, 'x')...), data...)...)
}

func file(elements ...byte) []byte { return append(mattest.File(mattest.Options{}), elements...) }

// TestNumberTypes: a double array may be stored in any smaller type that MATLAB chooses.
func TestNumberTypes(t *testing.T) {
	for _, c := range []struct {
		kind int
		data []byte
		want float64
	}{
		{1, []byte{0xff}, -1}, {2, []byte{0xff}, 255},
		{3, []byte{0xfe, 0xff}, -2}, {4, []byte{0xfe, 0xff}, 65534},
		{5, []byte{0xfd, 0xff, 0xff, 0xff}, -3}, {6, []byte{0xfd, 0xff, 0xff, 0xff}, 4294967293},
		{7, []byte{0, 0, 0x20, 0xc0}, -2.5}, {9, []byte{0, 0, 0, 0, 0, 0, 4, 0x40}, 2.5},
		{12, bytes.Repeat([]byte{0xff}, 8), -1}, {13, []byte{0, 0, 0, 0, 1, 0, 0, 0}, 1 << 32},
	} {
		list, err := matfile.Parse(file(matrix(6, 1, element(c.kind, c.data...)...)...))
		if err != nil || list[0].Numbers[0] != c.want {
			t.Errorf("type %d: found %+v, %v, expected %v", c.kind, list, err, c.want)
		}
	}
}

// TestTexts: characters come in several encodings, and rows run across the columns of memory.
func TestTexts(t *testing.T) {
	for _, c := range []struct {
		data []byte
		n    int
		want string
	}{
		{element(16, []byte("Škoda")...), 5, "Škoda"},
		{element(2, 'a', 0xe9), 2, "aé"},
		{element(17, 0x3d, 0xd8, 0x97, 0xde), 2, "🚗"},
		{element(18, 0x97, 0xf6, 1, 0), 1, "🚗"},
	} {
		list, err := matfile.Parse(file(matrix(4, c.n, c.data...)...))
		if err != nil || list[0].Text != c.want {
			t.Errorf("found %+v, %v, expected %q", list, err, c.want)
		}
	}
	body := append(element(6, 4, 0, 0, 0, 0, 0, 0, 0), element(5, 2, 0, 0, 0, 3, 0, 0, 0)...)
	body = append(append(body, element(1)...), element(4, 'a', 0, 'x', 0, 'b', 0, 'y', 0, 'c', 0, 'z', 0)...)
	list, err := matfile.Parse(file(element(14, body...)...))
	if err != nil || list[0].Text != "abc\nxyz" {
		t.Errorf("found %+v, %v, expected two rows", list, err)
	}
}

// TestPassedOver: an array of an unsupported class does not stop the file.
func TestPassedOver(t *testing.T) {
	list, err := matfile.Parse(file(append(matrix(17, 1, 1, 2, 3), matrix(6, 1, element(2, 7)...)...)...))
	if err != nil || len(list) != 2 || list[0].Class.String() != "opaque" || list[1].Numbers[0] != 7 {
		t.Errorf("found %+v, %v", list, err)
	}
}

func TestRefused(t *testing.T) {
	head := func(version uint16, mark string) []byte {
		b := binary.LittleEndian.AppendUint16(bytes.Repeat([]byte(" "), 124), version)
		return append(b, mark...)
	}
	packed := func(inner []byte) []byte {
		var z bytes.Buffer
		w := zlib.NewWriter(&z)
		w.Write(inner)
		w.Close()
		return append(binary.LittleEndian.AppendUint32([]byte{15, 0, 0, 0}, uint32(z.Len())), z.Bytes()...)
	}
	big := append([]byte{14, 0, 0, 0}, 0, 0, 0, 0x1f) // states 520 MB
	whole := packed(matrix(6, 1, element(2, 7)...))
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-1] ^= 1
	nested := matrix(6, 0, element(9)...)
	for range 70 {
		nested = matrix(1, 1, nested...)
	}
	for want, data := range map[string][]byte{
		"found 5 bytes, expected a MAT-file":             []byte("hello"),
		`byte order mark is "PK"`:                        head(0x0100, "PK"),
		"version is 7.3 (HDF5), expected level 5":        head(0x0200, "IM"),
		"version is 0x0300":                              head(0x0300, "IM"),
		"found 3 bytes, expected an element's tag":       file(1, 2, 3),
		"element states 4294967295 bytes, 0 are left":    file(14, 0, 0, 0, 255, 255, 255, 255),
		"found a small element of 5 bytes":               file(14, 0, 5, 0, 0, 0, 0, 0),
		"found an element of type 9, expected an array":  file(element(9)...),
		"found 1 bytes, expected 200000000 numbers of 1": file(matrix(6, 200000000, element(2, 7)...)...),
		"expected numbers":                               file(matrix(6, 1, element(16, 7)...)...),
		"expected characters":                            file(matrix(4, 1, element(9, make([]byte, 8)...)...)...),
		"found 2 characters, expected 1":                 file(matrix(4, 1, element(2, 7, 7)...)...),
		"characters are not UTF-8":                       file(matrix(4, 1, element(16, 0xff)...)...),
		"found 0 characters, expected 134217728":         file(matrix(4, 1<<27, element(2)...)...),
		"states 100000000 elements, 8 bytes are left":    file(matrix(1, 100000000, element(9)...)...),
		"states 100000000 elements of 1 fields": file(matrix(2, 100000000,
			append(element(5, 4, 0, 0, 0), element(1, 'a', 'b', 'c', 0)...)...)...),
		"expected 1 with a multiple of 3": file(matrix(2, 1,
			append(element(5, 3, 0, 0, 0), element(1, 'a', 'b', 'c', 0)...)...)...),
		"dimensions: found -1, expected 0 or more":              file(matrix(6, 0xffffffff, element(2, 7)...)...),
		"arrays in arrays more than 64 deep":                    file(nested...),
		"compressed: array states 520093696 bytes, more than":   file(packed(big)...),
		"compressed: found an element of type 9":                file(packed(element(9))...),
		"compressed: array of 64 bytes: zlib: invalid checksum": file(flipped...),
		"variable 1 at byte 128: compressed: array of 64 bytes: found 8 or more": file(packed(append(matrix(6, 1,
			element(2, 7)...), make([]byte, 30)...))...),
	} {
		_, err := matfile.Parse(data)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found error %v, expected %q", err, want)
		}
	}
}

// TestDamaged: a file cut short anywhere is rejected, unless a variable ends there. A changed byte never causes a
// panic, and is detected in a compressed file.
func TestDamaged(t *testing.T) {
	for name, form := range forms {
		data := mattest.File(form, zoo()...)
		ends := map[int]bool{}
		for i := range len(zoo()) + 1 {
			ends[len(mattest.File(form, zoo()[:i]...))] = true
		}
		for n := range data {
			list, err := matfile.Parse(data[:n])
			if err == nil && !ends[n] && !padding(data[n:], ends, n) {
				t.Fatalf("%s: %d of %d bytes were read as %d variables", name, n, len(data), len(list))
			}
		}
		for i := 128; i < len(data); i++ {
			bad := bytes.Clone(data)
			bad[i] ^= 0x10
			// Up to seven bits after the end of a deflate stream mean nothing.
			if list, err := matfile.Parse(bad); err == nil && form.Compress && !cmp.Equal(list, zoo()) {
				t.Fatalf("%s: a change at byte %d was not noticed", name, i)
			}
		}
	}
}

// padding reports whether only the padding of the last variable is cut off.
func padding(rest []byte, ends map[int]bool, n int) bool {
	for k := 1; k < 8 && k <= len(rest); k++ {
		if ends[n+k] {
			return len(bytes.Trim(rest[:k], "\x00")) == 0
		}
	}
	return false
}

func TestReadFile(t *testing.T) {
	fsys := fstest.MapFS{"a.mat": {Data: mattest.File(mattest.Options{}, zoo()...)}, "b.mat": {Data: []byte("hello")}}
	if list, err := matfile.ReadFile(fsys, "a.mat"); err != nil || len(list) != len(zoo()) {
		t.Errorf("found %d variables, %v", len(list), err)
	}
	if _, err := matfile.ReadFile(fsys, "b.mat"); err == nil ||
		!strings.HasPrefix(err.Error(), "matfile: b.mat: found 5 bytes") {
		t.Errorf("found error %v", err)
	}
	if _, err := matfile.ReadFile(fsys, "c.mat"); err == nil {
		t.Error("a file that is not there was read")
	}
}

// TestReal reads the published files.
func TestReal(t *testing.T) {
	z, err := zip.OpenReader(reference.Asset(t, "data/official-metadata.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for name, want := range map[string]string{
		"cars196/cars_meta.mat":        "class_names cell [1 196] []; ",
		"cars196/cars_train_annos.mat": "annotations struct [1 8144] [bbox_x1 bbox_y1 bbox_x2 bbox_y2 class fname]; ",
		"cars196/cars_test_annos.mat":  "annotations struct [1 8041] [bbox_x1 bbox_y1 bbox_x2 bbox_y2 fname]; ",
		"flowers102/imagelabels.mat":   "labels double [1 8189] []; ",
		"flowers102/setid.mat": "trnid double [1 1020] []; valid double [1 1020] []; " +
			"tstid double [1 6149] []; ",
	} {
		list, err := matfile.ReadFile(z, name)
		if err != nil {
			t.Error(err)
			continue
		}
		got := ""
		for _, a := range list {
			got += fmt.Sprintf("%s %s %v %v; ", a.Name, a.Class, a.Dims, a.Fields)
		}
		if got != want {
			t.Errorf("%s: found %s, expected %s", name, got, want)
		}
		switch name {
		case "cars196/cars_meta.mat":
			if a, b := list[0].Cells[0].Text, list[0].Cells[195].Text; a != "AM General Hummer SUV 2000" ||
				b != "smart fortwo Convertible 2012" {
				t.Errorf("found the classes %s … %s", a, b)
			}
		case "cars196/cars_train_annos.mat":
			a := list[0]
			if a.Field(0, "class").Numbers[0] != 14 || a.Field(1, "class").Numbers[0] != 3 ||
				a.Field(8143, "fname").Text != "08144.jpg" || a.Field(0, "bbox_x2").Numbers[0] != 569 {
				t.Errorf("found %+v", a.Cells[:6])
			}
		}
	}
}

// mostMemory is more than any file may make the reader allocate.
const mostMemory = 3 << 26

// TestBombs: data that unpack or expand to more than the budget are rejected before they are allocated.
func TestBombs(t *testing.T) {
	zeros := func(class matfile.Class, n int) *matfile.Array {
		return &matfile.Array{Name: "x", Class: class, Dims: []int{1, n}, Numbers: make([]float64, n)}
	}
	packed := mattest.Options{Compress: true}
	for name, file := range map[string][]byte{
		"bytes as numbers": mattest.File(packed, zeros(matfile.Uint64, 9<<20)),
		"two variables":    mattest.File(packed, zeros(matfile.Double, 3<<20), zeros(matfile.Double, 3<<20)),
		"cells": mattest.File(packed, &matfile.Array{Name: "c", Class: matfile.Cell, Dims: []int{1, 350_000},
			Cells: slices.Repeat([]*matfile.Array{zeros(matfile.Double, 0)}, 350_000)}),
		"characters": mattest.File(packed, mattest.Text(strings.Repeat("a", 6<<20))),
	} {
		t.Run(name, func(t *testing.T) {
			memory.Check(t, mostMemory, func() {
				if _, err := matfile.Parse(file); err == nil ||
					!strings.Contains(err.Error(), "holds more than the 64 MiB") {
					t.Errorf("%d bytes: %v", len(file), err)
				}
			})
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, form := range forms {
		f.Add(mattest.File(form, zoo()...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var list []*matfile.Array
		var err error
		memory.Check(t, mostMemory, func() { list, err = matfile.Parse(data) })
		if err != nil {
			return
		}
		for _, a := range list {
			if a.Numbers != nil && len(a.Numbers) != a.Len() || a.Class == matfile.Cell && len(a.Cells) != a.Len() {
				t.Fatalf("%s: %v with %d numbers and %d cells", a.Name, a.Dims, len(a.Numbers), len(a.Cells))
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	var list [][]*matfile.Array
	for i := range 16185 {
		list = append(list, []*matfile.Array{mattest.Numbers("", float64(i%196+1)),
			mattest.Text(fmt.Sprintf("car_ims/%06d.jpg", i+1))})
	}
	data := mattest.File(mattest.Options{Compress: true},
		mattest.Struct("annotations", []string{"class", "relative_im_path"}, list...))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := matfile.Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}
