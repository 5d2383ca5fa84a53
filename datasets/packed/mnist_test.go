package packed

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"golang.org/x/image/bmp"

	"winnow/datasets"
	"winnow/internal/testing/reference"
)

// idx returns an idx file of bytes.
func idx(data []byte, sizes ...uint32) []byte {
	out := []byte{0, 0, 8, byte(len(sizes))}
	for _, n := range sizes {
		out = binary.BigEndian.AppendUint32(out, n)
	}
	return append(out, data...)
}

func zipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// rising returns bytes 0, 1, 2, …
func rising(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

func smallMNIST() fstest.MapFS {
	return fstest.MapFS{
		"train-images-idx3-ubyte.gz": {Data: zipped(idx(rising(3*2*4), 3, 2, 4))},
		"train-labels-idx1-ubyte":    {Data: idx([]byte{7, 0, 7}, 3)},
		"t10k-images.idx3-ubyte":     {Data: idx(rising(2*2*4), 2, 2, 4)},
		"t10k-labels-idx1-ubyte.gz":  {Data: zipped(idx([]byte{1, 2}, 2))},
	}
}

func TestMNIST(t *testing.T) {
	d, err := ReadMNIST(smallMNIST())
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Classes) != 8 || d.Classes[7] != "7" || len(d.Samples) != 5 {
		t.Fatalf("found %+v", d)
	}
	want := datasets.Sample{Path: "train/00002.bmp", Label: 7, True: datasets.Unlabelled, Split: datasets.Train}
	if s := d.Samples[2]; fmt.Sprint(s) != fmt.Sprint(want) {
		t.Errorf("found %+v, expected %+v", s, want)
	}
	if s := d.Samples[3]; s.Path != "test/00000.bmp" || s.Label != 1 || s.Split != datasets.Test {
		t.Errorf("found %+v", s)
	}
	images, err := Open(smallMNIST())
	if err != nil {
		t.Fatal(err)
	}
	f, err := images.Open("train/00002.bmp")
	if err != nil {
		t.Fatal(err)
	}
	img, err := bmp.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	for y := range 2 {
		for x := range 4 {
			if r, _, _, _ := img.At(x, y).RGBA(); byte(r>>8) != byte(2*8+4*y+x) {
				t.Errorf("pixel (%d, %d) is %d", x, y, r>>8)
			}
		}
	}
}

func TestMNISTErrors(t *testing.T) {
	const images = "train-images-idx3-ubyte"
	good := idx(rising(3*2*4), 3, 2, 4)
	damaged := zipped(good)
	damaged[len(damaged)-6] ^= 1 // a byte of the checksum
	for _, data := range [][]byte{nil, good[:9], good[:len(good)-1], append(bytes.Clone(good), 1), zipped(good)[:20],
		damaged, idx([]byte{1, 2, 3}, 3), idx(nil, 3, 0, 4), idx(nil, 1<<24, 1<<10, 1<<10), idx(nil, 1<<31, 1, 1),
		idx(rising(2*2*4), 2, 2, 4)} {
		m := smallMNIST()
		delete(m, images+".gz")
		m[images] = &fstest.MapFile{Data: data}
		if d, err := ReadMNIST(m); err == nil {
			t.Errorf("%.20x: read %+v", data, d)
		}
	}
	if images, _ := Open(fstest.MapFS{"train-labels-idx1-ubyte": {}}); images != nil {
		t.Error("a folder without images was recognised")
	}
}

// TestMNISTReal reads all of MNIST and checks the published counts, the first labels, and the mean grey level of the
// test set, 33.7912 of 255 (0.1325).
func TestMNISTReal(t *testing.T) {
	root := os.DirFS(reference.Asset(t, "data/mnist"))
	d, err := ReadMNIST(root)
	if err != nil {
		t.Fatal(err)
	}
	counts := d.Count()
	if fmt.Sprint(counts[0].Samples, counts[0].Smallest, counts[0].Largest, counts[1].Samples, counts[1].Smallest,
		counts[1].Largest) != "60000 5421 6742 10000 892 1135" {
		t.Errorf("found %+v", counts)
	}
	first := ""
	for i := range 10 {
		first += d.Classes[d.Samples[i].Label]
	}
	if first != "5041921314" {
		t.Errorf("the first labels are %s, expected 5041921314", first)
	}
	images, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, at := range d.Select(datasets.Test) {
		data, err := fs.ReadFile(images, d.Samples[at].Path)
		if err != nil {
			t.Fatal(err)
		}
		for k := 54; k < len(data); k += 3 {
			sum += int(data[k])
		}
	}
	if mean := float64(sum) / (10000 * 784); mean < 33.7912 || mean > 33.7913 {
		t.Errorf("the mean grey is %.5f, expected 33.7912", mean)
	}
}

func FuzzIdx(f *testing.F) {
	f.Add(idx(rising(24), 3, 2, 4), true)
	f.Add(zipped(idx(rising(24), 3, 2, 4)), true)
	f.Add(idx([]byte{1, 2}, 2), false)
	f.Add(idx(nil, 1<<24, 1<<9, 1), true)
	f.Fuzz(func(t *testing.T, data []byte, images bool) {
		dimensions := 1
		if images {
			dimensions = 3
		}
		sizes, elements, err := decodeIdx(bytes.NewReader(data), dimensions)
		if err != nil {
			return
		}
		n := 1
		for _, s := range sizes {
			n *= s
		}
		if n != len(elements) || len(sizes) != dimensions {
			t.Fatalf("sizes %v with %d bytes", sizes, len(elements))
		}
	})
}
