//go:build faults

package backbone

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"winnow/internal/testing/memory"
)

// damaged is how many pictures TestDamagedImages reads.
const damaged = 2000

// TestDamagedImages reads pictures of all kinds that were cut, flipped, swapped and stretched, as extract and
// review do. Each gives a picture or a one-line error, none takes more memory than a small one may, and the
// program survives.
func TestDamagedImages(t *testing.T) {
	const most = 64 << 20 // bytes allocated for one picture, including freed ones
	names := seeds(t)
	files := make([][]byte, len(names))
	for i, name := range names {
		files[i] = readFile(t, name)
	}
	views := []View{centreView(), {Name: "flip", Augmentation: Augmentation{Flip: 1}}}
	readers, err := newReaders(ExtractConfig{Preprocessing: tiny, Batch: 1, Workers: 1, MaxPixels: 1 << 20,
		Views: views}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := readers[0]
	r.options.EXIF = true
	small := reader{options: r.options}
	small.options.Enough = func(w, h int) (int, int) { return w / 4, h / 4 }
	dst := [][]float32{make([]float32, tiny.Size()), make([]float32, tiny.Size())}
	rng := rand.New(rand.NewPCG(15, 2000))
	kept, refused, panics := 0, map[string]int{}, 0
	for i := range damaged {
		name := names[i%len(names)]
		data := damage(rng, files[i%len(names)])
		fsys := fstest.MapFS{"a": {Data: data}}
		r.fsys, small.fsys = fsys, fsys
		var err error
		var thumbnail Thumbnail
		memory.Check(t, most, func() {
			err = r.readImageViews(dst, "a")
			thumbnail = small.makeThumbnail("a", 8)
		})
		// a reduced JPEG may skip the damage
		if (err == nil) != (thumbnail.Err == nil) && !strings.HasSuffix(name, ".jpg") {
			t.Errorf("%d, of %s: %v, but small: %v", i, name, err, thumbnail.Err)
		}
		if err == nil {
			kept++
			for _, v := range dst[0] {
				if v-v != 0 {
					t.Errorf("%d, of %s: found %v among the pixels", i, name, v)
				}
			}
			continue
		}
		refused[filepath.Ext(name)]++
		if text := err.Error(); text == "" || strings.Contains(text, "\n") || len(text) > 300 {
			t.Errorf("%d, of %s: %q, expected one line", i, name, text)
		} else if strings.Contains(text, "panicked") {
			panics++
		}
	}
	t.Logf("%d pictures, %v refused, %d of them by a caught panic", kept, refused, panics)
	if kept == 0 || len(refused) != 5 {
		t.Errorf("%d pictures and %v refused: the damage is not what it should be", kept, refused)
	}
}

// damage returns a copy of a file with one to three faults.
func damage(rng *rand.Rand, file []byte) []byte {
	data := bytes.Clone(file)
	for range 1 + rng.IntN(3) {
		at, end := rng.IntN(len(data)), 0
		if rng.IntN(2) == 0 { // headers are short and matter most
			at = rng.IntN(min(len(data), 64))
		}
		end = at + 1 + rng.IntN(min(len(data)-at, 32))
		switch rng.IntN(6) {
		case 0:
			data = data[:at+1]
		case 1:
			data[at] ^= 1 << rng.IntN(8)
		case 2:
			data[at] = byte(rng.Uint32())
		case 3: // two pieces change places
			to := rng.IntN(len(data) - (end - at) + 1)
			piece := bytes.Clone(data[at:end])
			copy(data[at:end], data[to:])
			copy(data[to:], piece)
		case 4:
			data = append(data[:end:end], data[at:]...) // a piece comes twice
		case 5:
			for i := range data[at:end] {
				data[at+i] = 0xff * byte(rng.IntN(2))
			}
		}
	}
	return data
}
