package shards

import (
	"archive/tar"
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// archive makes a tar file of headers, each followed by the stated number of bytes.
func archive(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for i := range headers {
		if err := w.WriteHeader(&headers[i]); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(bytes.Repeat([]byte{byte('a' + i)}, int(headers[i].Size))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Files of all sizes and name forms are found at their offsets.
func TestTarIndex(t *testing.T) {
	long := strings.Repeat("folder/", 40) + "ü.jpg"
	var headers []tar.Header
	for i, size := range []int64{0, 1, 511, 512, 513, 4095, 70_000} {
		headers = append(headers, tar.Header{Typeflag: tar.TypeReg, Name: fmt.Sprintf("./%d/x.jpg", i), Size: size})
	}
	headers = append(headers, tar.Header{Typeflag: tar.TypeDir, Name: "d/"},
		tar.Header{Typeflag: tar.TypeSymlink, Name: "link.jpg", Linkname: "/etc/passwd"},
		tar.Header{Typeflag: tar.TypeReg, Name: long, Size: 3, Format: tar.FormatPAX},
		tar.Header{Typeflag: tar.TypeReg, Name: long + "2", Size: 3, Format: tar.FormatGNU})
	data := archive(t, headers...)
	if !isTar(data) || isTar(data[:511]) || isTar(make([]byte, 512)) {
		t.Error("not told from other files")
	}
	x, err := readTarIndex(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i, h := range headers {
		name, _ := cleanName(h.Name)
		m, ok := x[name]
		at, size := m.at, m.size
		if ok != (h.Typeflag == tar.TypeReg) {
			t.Errorf("%s: found %v", name, ok)
		}
		if !ok {
			continue
		}
		found++
		if size != h.Size || !bytes.Equal(data[at:at+size], bytes.Repeat([]byte{byte('a' + i)}, int(size))) {
			t.Errorf("%s: %d bytes at %d", name, size, at)
		}
	}
	if found != len(x) {
		t.Errorf("%d files, found %d", len(x), found)
	}
}

func TestBrokenTar(t *testing.T) {
	file := func(name string, size int64) tar.Header {
		return tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size}
	}
	good := archive(t, file("a.jpg", 2000), file("b.jpg", 10))
	huge := bytes.Clone(good)
	copy(huge[124:136], "77777777777\x00") // 8 GiB
	sum := int64(0)
	copy(huge[148:156], "        ")
	for _, b := range huge[:512] {
		sum += int64(b)
	}
	copy(huge[148:156], fmt.Sprintf("%06o\x00 ", sum))
	for what, c := range map[string]struct {
		data []byte
		want string
	}{
		"cut in a file":    {good[:1500], `"a.jpg": unexpected EOF`},
		"cut in a header":  {good[:3000], `after "a.jpg": unexpected EOF`},
		"a size too large": {huge, `"a.jpg": unexpected EOF`},
		"no header": {append(bytes.Clone(good[:2560]), bytes.Repeat([]byte{'x'}, 1024)...),
			`after "a.jpg": archive/tar: invalid tar header`},
		"outside": {archive(t, file("../a.jpg", 1)),
			`contains the name "../a.jpg", expected relative names inside the archive`},
		"absolute": {archive(t, file("/etc/a.jpg", 1)), `contains the name "/etc/a.jpg"`},
		"twice":    {archive(t, file("a.jpg", 1), file("./a.jpg", 1)), `holds two files called "a.jpg"`},
		"none":     {nil, ""},
	} {
		_, err := readTarIndex(bytes.NewReader(c.data), int64(len(c.data)))
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, expected %q", what, err, c.want)
		}
	}
}

// FuzzTarIndex checks for any bytes that indexing gives an error or files inside the input.
func FuzzTarIndex(f *testing.F) {
	f.Add(archive(f, tar.Header{Typeflag: tar.TypeReg, Name: "a.jpg", Size: 600},
		tar.Header{Typeflag: tar.TypeReg, Name: "a.cls", Size: 1}))
	f.Add(archive(f, tar.Header{Typeflag: tar.TypeReg, Name: strings.Repeat("d/", 100) + "a.jpg", Size: 6,
		Format: tar.FormatPAX}))
	f.Add(archive(f, tar.Header{Typeflag: tar.TypeReg, Name: strings.Repeat("d/", 100) + "a.jpg", Size: 6,
		Format: tar.FormatGNU}))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := readTarIndex(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for name, m := range x {
			if m.at < 0 || m.size < 0 || m.at+m.size > int64(len(data)) {
				t.Fatalf("%q: %d bytes at %d of %d", name, m.size, m.at, len(data))
			}
		}
	})
}
