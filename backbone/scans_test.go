package backbone

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"winnow/backbone/jfif"
	"winnow/internal/testing/memory"
)

// lastScan returns the offset of the last scan in a JPEG file. The scan ends two bytes before the file.
func lastScan(data []byte) int { return bytes.LastIndex(data, []byte{0xff, 0xda}) }

// TestScansAreBounded checks that a scan without new bits is rejected, and so are very many scans, before a decoder
// runs. This includes images that only the standard library decodes, and scans hidden after bytes that the library
// skips.
func TestScansAreBounded(t *testing.T) {
	data := readFile(t, "testdata/scaled/420-progressive.jpg")
	if _, err := jfif.Inspect(data); err != nil {
		t.Fatal(err)
	}
	at, end := lastScan(data), len(data)-2
	again := func(n int, between string) []byte {
		out := bytes.Clone(data[:end])
		for range n {
			out = append(append(out, between...), data[at:end]...)
		}
		return append(out, data[end:]...)
	}
	rgb := func(data []byte) []byte { // declares its planes as red, green and blue
		return append(append([]byte("\xff\xd8"), "\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"...), data[2:]...)
	}
	ahead := bytes.Clone(data) // its first refinement comes too early
	low := bytes.Index(ahead, []byte{0xff, 0xda})
	ahead[low+4+2*3+3] = 2
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"twice":              {again(1, ""), "contains bits of coefficients twice"},
		"4000 times":         {again(4000, ""), "contains bits of coefficients"},
		"twice, in RGB":      {rgb(again(1, "")), "contains bits of coefficients"},
		"twice, behind zero": {again(1, "\xff\x00"), "contains bits of coefficients"},
		"twice, after fill":  {again(1, "\xff\xff"), "contains bits of coefficients"},
		"twice, behind RST":  {again(1, "\xff\xd3"), "contains bits of coefficients"},
		"twice, after text":  {again(1, "text"), "contains bits of coefficients"},
		"before its time":    {ahead, "out of order"},
		"empty scans":        {manyScans(data, 200), "jpeg: more than 100 scans"},
	} {
		if _, err := jfif.Inspect(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", name, err, c.want)
		}
		if _, err := Decode(c.data, DecodeOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, decoded: %v, expected %q", name, err, c.want)
		}
	}
	if _, err := jfif.DecodeScaled(again(1, ""), 1); err == nil {
		t.Error("the decoder accepted a repeated scan")
	}
	if img, err := Decode(rgb(data), DecodeOptions{}); err != nil {
		t.Error(err) // the other decoder accepts it
	} else if h, _ := jfif.Inspect(rgb(data)); h.Usual || img == nil {
		t.Error("RGB was reported as usual")
	}
}

// manyScans inserts scans without coefficients before the first scan.
func manyScans(data []byte, n int) []byte {
	at := bytes.Index(data, []byte{0xff, 0xda})
	id := data[at+5]
	return append(append(bytes.Clone(data[:at]), bytes.Repeat([]byte{0xff, 0xda, 0, 8, 1, id, 0, 9, 8, 0}, n)...),
		data[at:]...)
}

// TestInspectCounts checks that the number of samples is that of the planes in the decoders.
func TestInspectCounts(t *testing.T) {
	for name, want := range map[string]int64{"grey": 1, "444": 3, "422": 4, "420": 6, "440": 4, "411": 6} {
		data := readFile(t, "testdata/scaled/"+name+".jpg")
		h, err := jfif.Inspect(data)
		sof := bytes.Index(data, []byte{0xff, 0xc0})
		rows, columns := int64(binary.BigEndian.Uint16(data[sof+5:])), int64(binary.BigEndian.Uint16(data[sof+7:]))
		across, down := int64(data[sof+11]>>4), int64(data[sof+11]&15)
		units := (columns + 8*across - 1) / (8 * across) * ((rows + 8*down - 1) / (8 * down))
		if err != nil || h.Samples != 64*units*want || !h.Usual || h.Progressive {
			t.Errorf("%s: %+v, %v, expected %d samples", name, h, err, 64*units*want)
		}
	}
}

// FuzzInspect checks that a small file with a large number of samples is rejected, and that Inspect allocates almost
// no memory.
func FuzzInspect(f *testing.F) {
	data := readFile(f, "testdata/scaled/420-progressive.jpg")
	f.Add(data)
	f.Add(readFile(f, "testdata/scaled/444.jpg"))
	f.Add(manyScans(data, 101))
	f.Add(append(bytes.Clone(data[:lastScan(data)]), "\xff\x00\xff\xd0\xff\xff"...))
	f.Fuzz(func(t *testing.T, data []byte) {
		var h jfif.Header
		var err error
		memory.Check(t, 64<<10, func() { h, err = jfif.Inspect(data) })
		if err == nil && h.Samples > 64*4*16*8*int64(len(data)) {
			t.Errorf("%d samples of %d bytes", h.Samples, len(data))
		}
	})
}
