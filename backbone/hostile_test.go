package backbone

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"winnow/internal/testing/memory"
)

// clearBeyond is a GIF of two colours whose transparent colour has the index 200. Its frame is smaller than the screen.
const clearBeyond = "GIF89a\x02\x00\x02\x00\x80\x00\x00\xff\x00\x00\x00\xff\x00!\xf9\x04\x01\x00\x00\xc8\x00" +
	",\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"

// TestColourBeyondPalette checks that an index outside of a palette becomes black without a panic. A panic in a
// goroutine of package imaging would end the program.
func TestColourBeyondPalette(t *testing.T) {
	files := fstest.MapFS{"a.gif": {Data: []byte(clearBeyond)}}
	want := []byte{255, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255}
	small, err := Thumbnails(t.Context(), files, []string{"a.gif"}, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, one := range map[string]Thumbnail{"among others": small[0], "alone": ReadThumbnail(files, "a.gif", 2),
		"smaller": ReadThumbnail(files, "a.gif", 1)} {
		if one.Err != nil {
			t.Errorf("%s: %v", name, one.Err)
		} else if name != "smaller" && !bytes.Equal(one.Image.Pix, want) {
			t.Errorf("%s: %v, expected %v", name, one.Image.Pix, want)
		}
	}
	beyond := image.NewPaletted(image.Rect(0, 0, 2, 1), color.Palette{color.NRGBA{1, 2, 3, 4}})
	beyond.Pix[1] = 9
	if got, want := fitPicture(beyond, 8).Pix, []byte{1, 2, 3, 4, 0, 0, 0, 255}; !bytes.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
}

// chunk returns one chunk of a PNG file.
func chunk(kind string, data []byte) []byte {
	out := append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), kind...)
	out = append(out, data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// pngHead returns a PNG file up to its image data.
func pngHead(w, h uint32, depth, kind, interlaced byte, more ...[]byte) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	out := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(head, depth, kind, 0, 0, interlaced))...)
	return append(append(out, bytes.Join(more, nil)...), chunk("IDAT", nil)...)
}

// TestBytesAreBounded checks that the memory of an image is limited as well as the number of its pixels, before memory
// is allocated.
func TestBytesAreBounded(t *testing.T) {
	progressive := bytes.Clone(readFile(t, "testdata/scaled/444-progressive.jpg"))
	sof := bytes.Index(progressive, []byte{0xff, 0xc2})
	binary.BigEndian.PutUint16(progressive[sof+5:], 12000)
	binary.BigEndian.PutUint16(progressive[sof+7:], 12000)
	enough := append(bytes.Clone(progressive), make([]byte, 1<<20)...)
	cmyk := bytes.Clone(readFile(t, "testdata/pil/jpeg-cmyk.jpg"))
	sof = bytes.Index(cmyk, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(cmyk[sof+5:], 10000)
	binary.BigEndian.PutUint16(cmyk[sof+7:], 10000)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"16-bit colours and alpha": {pngHead(13000, 13000, 16, 6, 0),
			"png: 13000×13000 pixels take 1352000000 bytes to decode, expected at most 1073741824"},
		"16-bit transparent grey": {pngHead(13000, 13000, 16, 0, 0, chunk("tRNS", []byte{0, 1})),
			"take 1352000000 bytes"},
		"progressive":               {enough, "jpeg: 12000×12000 pixels take 1296000000 bytes to decode"},
		"progressive, of few bytes": {progressive, "jpeg: the file is cut short"},
		"of four inks":              {append(cmyk, make([]byte, 1<<20)...), "jpeg: 10000×10000 pixels take 12"},
	} {
		memory.Check(t, 16<<20, func() {
			if _, err := Decode(c.data, DecodeOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, expected %q", name, err, c.want)
			}
		})
	}
	o := DecodeOptions{MaxPixels: 13000 * 13000 * 2} // a larger limit allows larger images
	if _, err := o.planDecoding(pngHead(13000, 13000, 16, 6, 0)); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		data []byte
		want int64
	}{
		"grey":       {pngHead(1000, 1000, 8, 0, 0), 1e6},
		"colours":    {pngHead(1000, 1000, 8, 2, 0), 4e6},
		"interlaced": {pngHead(1000, 1000, 8, 2, 1), 6e6},
		"16 bits":    {pngHead(1000, 1000, 16, 2, 0), 8e6},
	} {
		if p, err := (DecodeOptions{}).planDecoding(c.data); err != nil || p.bytes != c.want {
			t.Errorf("%s: %d bytes, %v, expected %d", name, p.bytes, err, c.want)
		}
	}
}

// TestPlannedBytes checks that an image does not take more memory than was planned before decoding it.
func TestPlannedBytes(t *testing.T) {
	for _, name := range seeds(t) {
		data := readFile(t, name)
		p, err := DecodeOptions{EXIF: true}.planDecoding(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		img, err := p.decodePlanned(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		const header = 16 << 10 // overhead of small images, including padding
		if n := bytesOf(img); n > p.peakBytes()+header {
			t.Errorf("%s: takes %d bytes, planned %d", name, n, p.peakBytes())
		}
	}
}

// TestBudget checks that the memory held at one time never exceeds the total. A request for more than the total gets
// all of it and must wait until no other memory is held.
func TestBudget(t *testing.T) {
	const total = 100
	b := newBudget(total)
	var held, most atomic.Int64
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			n := int64(i*7%140 + 1)
			release := b.holdBudgetBytes(n)
			now := held.Add(min(n, total))
			for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
			}
			held.Add(-min(n, total))
			release()
		})
	}
	all.Wait()
	if most.Load() > total {
		t.Errorf("%d were held at once, expected at most %d", most.Load(), total)
	}
}

// TestLargeMemoryGoesBack checks that the memory of a large image is returned to the system before the next image is
// decoded.
func TestLargeMemoryGoesBack(t *testing.T) {
	release := newBudget(2 * collected).holdBudgetBytes(collected)
	runtime.KeepAlive(make([]byte, collected))
	release()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if kept := m.HeapSys - m.HeapReleased; kept > collected {
		t.Errorf("%d bytes are kept, expected at most %d", kept, collected)
	}
}

// TestReadersHoldMemory checks that every way of reading an image holds memory from the budget until the image has
// been used, and releases it even after an error.
func TestReadersHoldMemory(t *testing.T) {
	data := readFile(t, "testdata/pil/png-rgb.png")
	files := fstest.MapFS{"a.png": {Data: data}, "cut.png": {Data: data[:len(data)/2]},
		"text.png": {Data: []byte("text")}}
	free := func(b *budget) bool {
		if b.left.TryAcquire(b.total) {
			b.left.Release(b.total)
			return true
		}
		return false
	}
	used := false
	if err := ReadImage(files, "a.png", DecodeOptions{}, func(image.Image) error {
		used = true
		if free(fileBudget) || free(pictureBudget) {
			t.Error("no memory is held while an image is used")
		}
		panic("in use")
	}); err == nil || err.Error() != "a.png: reading the image panicked: in use" || !used {
		t.Error(err)
	}
	for name := range files {
		_, _ = Inspect(files, name)
		_ = ReadThumbnail(files, name, 8)
		_, _ = NewImageCache(files, []string{name}, 1, DecodeOptions{}).Image(0)
	}
	if !free(fileBudget) || !free(pictureBudget) {
		t.Error("memory is still held after all images have been read")
	}
}

// TestGrey16 checks that the upper 8 bits of 16-bit grey are used. PIL would show all pixels but the first as 255.
func TestGrey16(t *testing.T) {
	deep := image.NewGray16(image.Rect(0, 0, 4, 1))
	for x, v := range []uint16{0x0012, 0x1234, 0x80ff, 0xfffe} {
		deep.SetGray16(x, 0, color.Gray16{Y: v})
	}
	var file bytes.Buffer
	if err := png.Encode(&file, deep); err != nil {
		t.Fatal(err)
	}
	img, err := Decode(file.Bytes(), DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rgbOf(img), []byte{0, 0, 0, 0x12, 0x12, 0x12, 0x80, 0x80, 0x80, 0xff, 0xff,
		0xff}; !bytes.Equal(got, want) {
		t.Errorf("%x, expected %x", got, want)
	}
}

// seeds returns the names of small images of all kinds.
func seeds(t testing.TB) (names []string) {
	t.Helper()
	for _, pattern := range []string{"testdata/pil/jpeg-*.jpg", "testdata/pil/png-*[a-z0-9].png",
		"testdata/pil/gif*.gif", "testdata/pil/bmp*.bmp", "testdata/pil/*.webp",
		"testdata/pil/exif-jpg.jpg", "testdata/pil/exif-6.png", "testdata/scaled/4*.jpg"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range found {
			if !strings.HasSuffix(name, ".png.png") {
				names = append(names, name)
			}
		}
	}
	return names
}
