package backbone

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/internal/testing/memory"
)

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// rgbOf returns the whole image as a source reads it.
func rgbOf(img image.Image) []byte {
	s := sourceOf(img)
	w, h := s.sourceSize()
	out := make([]byte, 3*w*h)
	for y := range h {
		s.readSourceRow(out[3*w*y:3*w*(y+1)], y, 0, w)
	}
	return out
}

// seenByPIL returns the pixels that PIL decoded from a file (testdata/pil/make.py), as RGB bytes.
func seenByPIL(t testing.TB, name string) (pix []byte, w, h int) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(readFile(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	b := img.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			pix = append(pix, c.R, c.G, c.B)
		}
	}
	return pix, b.Dx(), b.Dy()
}

// difference returns the mean and the largest absolute difference of bytes.
func difference(a, b []byte) (mean float64, most int) {
	for i := range a {
		d := int(a[i]) - int(b[i])
		d = max(d, -d)
		mean += float64(d) / float64(len(a))
		most = max(most, d)
	}
	return mean, most
}

// TestDecodeAsPIL compares pixels with PIL's. They are equal to the byte, except for CMYK JPEGs, which the standard
// library decodes with an inverse cosine transform that rounds differently.
func TestDecodeAsPIL(t *testing.T) {
	names, err := filepath.Glob("testdata/pil/*.*.png")
	if err != nil || len(names) < 25 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	for _, name := range names {
		file := strings.TrimSuffix(name, ".png")
		t.Run(filepath.Base(file), func(t *testing.T) {
			want, w, h := seenByPIL(t, name)
			img, err := Decode(readFile(t, file), DecodeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if b := img.Bounds(); b.Dx() != w || b.Dy() != h {
				t.Fatalf("size %v, expected %d×%d", b, w, h)
			}
			mean, most := difference(rgbOf(img), want)
			if strings.HasSuffix(file, "cmyk.jpg") {
				t.Logf("mean %.3f, most %d", mean, most)
				if mean > 0.1 || most > 1 {
					t.Errorf("differs from PIL by %.3f on average, %d at most", mean, most)
				}
			} else if most != 0 {
				t.Errorf("differs from PIL by %.3f on average, %d at most", mean, most)
			}
		})
	}
}

// TestUnknownImages checks that image types that no decoder returns are read colour by colour, with the same result.
func TestUnknownImages(t *testing.T) {
	img, err := Decode(readFile(t, "testdata/pil/png-alpha.png"), DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := rgbOf(img)
	if got := rgbOf(struct{ image.Image }{img}); !bytes.Equal(got, want) {
		t.Error("a wrapped image differs")
	}
	moved := image.NewNRGBA(image.Rect(5, 7, 5+37, 7+29))
	copy(moved.Pix, img.(*image.NRGBA).Pix)
	if got := rgbOf(moved); !bytes.Equal(got, want) {
		t.Error("a moved image differs")
	}
}

// The error for an undecodable format names the format. A file whose first bytes only resemble it is not an image.
func TestOtherFormats(t *testing.T) {
	for start, want := range map[string]string{
		"II*\x00\x08\x00\x00\x00": "TIFF", "MM\x00*\x00\x00": "TIFF", "II+\x00\x08\x00": "TIFF",
		"\x00\x00\x00\x18ftypheic\x00": "HEIC", "\x00\x00\x00\x1cftypmif1\x00": "HEIC",
		"\x00\x00\x00 ftypavif\x00": "AVIF", "\xff\x0a\x00": "JPEG XL", "\x00\x00\x00\x0cJXL \r\n": "JPEG XL",
		"\x00\x00\x00\x0cjP  \r\n": "JPEG 2000", "\x00\x00\x00\x18ftypmp42\x00": "", "II*": "", "IIRO\x00": "",
	} {
		_, err := Decode([]byte(start), DecodeOptions{})
		if err == nil || strings.Contains(err.Error(), "save it as PNG") != (want != "") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", start, err, want)
		}
	}
}

// TestCutFiles checks that every truncated file is an error, never an image and never a panic. Bytes after the last
// pixel may be missing: PIL, too, accepts a PNG, GIF, BMP or WebP without its last bytes.
func TestCutFiles(t *testing.T) {
	for _, name := range []string{"jpeg-420.jpg", "jpeg-progressive.jpg", "jpeg-grey.jpg", "png-rgb.png", "gif.gif",
		"bmp-24.bmp", "webp-lossy.webp", "webp-lossless.webp"} {
		data := readFile(t, "testdata/pil/"+name)
		end := len(data) - 1
		if !strings.HasSuffix(name, ".jpg") {
			end = len(data) * 9 / 10
		}
		for n := range end {
			if img, err := Decode(data[:n], DecodeOptions{}); err == nil {
				t.Errorf("%s: %d of %d bytes gave %v", name, n, len(data), img.Bounds())
				break
			} else if strings.Contains(err.Error(), "panicked") {
				t.Errorf("%s: %d of %d bytes: %v", name, n, len(data), err)
			}
		}
	}
}

// hugePNG returns the valid header of a PNG without image data.
func hugePNG(w, h uint32) []byte {
	data := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	data = binary.BigEndian.AppendUint32(data, w)
	data = binary.BigEndian.AppendUint32(data, h)
	data = append(data, 8, 2, 0, 0, 0)
	return binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(data[12:]))
}

func hugeJPEG(t testing.TB, w, h uint16) []byte {
	var out bytes.Buffer
	if err := jpeg.Encode(&out, image.NewRGBA(image.Rect(0, 0, 8, 8)), nil); err != nil {
		t.Fatal(err)
	}
	data := out.Bytes()
	sof := bytes.Index(data, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(data[sof+5:], h)
	binary.BigEndian.PutUint16(data[sof+7:], w)
	return data
}

func hugeGIF(t testing.TB) []byte {
	var out bytes.Buffer
	img := image.NewPaletted(image.Rect(0, 0, 2, 2), color.Palette{color.Black, color.White})
	if err := gif.Encode(&out, img, nil); err != nil {
		t.Fatal(err)
	}
	data := out.Bytes()
	binary.LittleEndian.PutUint16(data[6:], 60000)
	binary.LittleEndian.PutUint16(data[8:], 60000)
	return data
}

func TestDecodeRefuses(t *testing.T) {
	small := readFile(t, "testdata/pil/png-rgb.png")
	jpg := readFile(t, "testdata/pil/jpeg-420.jpg")
	bmpFile := readFile(t, "testdata/pil/bmp-24.bmp")
	huge := bytes.Clone(bmpFile)
	binary.LittleEndian.PutUint32(huge[18:], 60000)
	binary.LittleEndian.PutUint32(huge[22:], 60000)
	webpFile := bytes.Clone(readFile(t, "testdata/pil/webp-alpha.webp"))
	copy(webpFile[24:], "\xff\x3f\x00\xff\x3f\x00")
	for name, c := range map[string]struct {
		data []byte
		o    DecodeOptions
		want string
	}{
		"text": {[]byte("path,label\n1.jpg,3\n"), DecodeOptions{},
			`not an image: starts with "path,label\n1.jpg"`},
		"empty":     {nil, DecodeOptions{}, "the file is empty"},
		"tiff":      {[]byte("II*\x00\x08\x00\x00\x00"), DecodeOptions{}, "save it as PNG or JPEG"},
		"huge png":  {hugePNG(60000, 60000), DecodeOptions{}, "png: 60000×60000 pixels, expected at most 178956970"},
		"huge jpeg": {hugeJPEG(t, 60000, 60000), DecodeOptions{}, "jpeg: 60000×60000 pixels"},
		"huge gif":  {hugeGIF(t), DecodeOptions{}, "gif: 60000×60000 pixels"},
		"huge bmp":  {huge, DecodeOptions{}, "bmp: 60000×60000 pixels"},
		"huge webp": {webpFile, DecodeOptions{}, "webp: 16384×16384 pixels"},
		"own limit": {small, DecodeOptions{MaxPixels: 37*29 - 1}, "png: 37×29 pixels, expected at most 1072"},
		"half jpeg": {jpg[:len(jpg)/2], DecodeOptions{}, "jpeg: "},
		"no end":    {jpg[:len(jpg)-2], DecodeOptions{}, "jpeg: the file is cut short"},
		"half, end": {append(bytes.Clone(jpg[:len(jpg)/2]), 0xff, 0xd9), DecodeOptions{},
			"jpeg: the image data ends early"},
		"header only": {jpg[:20], DecodeOptions{}, "jpeg: the file is cut short"},
	} {
		_, err := Decode(c.data, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Decode(small, DecodeOptions{MaxPixels: 37 * 29}); err != nil {
		t.Errorf("exactly the limit: %v", err)
	}
}

// TestPanicIsAnError checks that a panic in a decoder makes only its own image unreadable.
func TestPanicIsAnError(t *testing.T) {
	bad := listFormats()[1]
	bad.decode = func([]byte, int) (image.Image, error) { panic("index out of range") }
	p := decoding{format: bad, by: 1}
	_, err := p.decodePlanned(readFile(t, "testdata/pil/png-rgb.png"))
	if err == nil || err.Error() != "png: the decoder panicked: index out of range" {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, name := range []string{"jpeg-420.jpg", "jpeg-5x2.jpg", "jpeg-cmyk.jpg", "png-palette.png",
		"gif-part.gif", "bmp-8.bmp",
		"webp-alpha.webp", "webp-lossless.webp"} {
		f.Add(readFile(f, "testdata/pil/"+name))
	}
	progressive := readFile(f, "testdata/scaled/420-progressive.jpg")
	f.Add(progressive)
	f.Add(manyScans(progressive, 101))
	f.Add([]byte(clearBeyond))
	f.Add(pngHead(200, 200, 16, 6, 1, chunk("tRNS", []byte{0, 1})))
	q, err := NewPreprocessor(Preprocessing{Resize: 12, Crop: 9, Interpolation: "bilinear", Channels: "RGB", Scale: 1,
		Std: [3]float32{1, 1, 1}})
	if err != nil {
		f.Fatal(err)
	}
	dst := make([]float32, q.p.Size())
	f.Fuzz(func(t *testing.T, data []byte) {
		var img image.Image
		var err error
		memory.Check(t, 16<<20+64*uint64(len(data)),
			func() { img, err = Decode(data, DecodeOptions{MaxPixels: 1 << 16, EXIF: true}) })
		if err != nil {
			return
		}
		fitPicture(img, 8)
		if err := q.Into(dst, img); err != nil {
			t.Fatal(err)
		}
		for i, v := range dst {
			if !(v >= 0 && v <= 255) {
				t.Fatalf("value %d is %v", i, v)
			}
		}
	})
}
