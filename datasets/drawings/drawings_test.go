package drawings

import (
	"bytes"
	"image/jpeg"
	"io/fs"
	"testing"
)

// TestNew checks the numbers of wrong labels, outliers and images of a class, and that a seed repeats the images.
func TestNew(t *testing.T) {
	d, files, err := New(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	wrong, unknown, shown := 0, 0, map[string]int{}
	for _, s := range d.Samples {
		name := d.Classes[s.True]
		shown[name]++
		if name == other {
			unknown++
		} else if s.True != s.Label {
			wrong++
		}
	}
	if len(d.Samples) != 720 || wrong != 72 || unknown != outliers || len(shown) != 25 || shown["cat"] < 25 {
		t.Errorf("%d images, %d wrong, %d outliers, shown: %v", len(d.Samples), wrong, unknown, shown)
	}
	again, same, err := New(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 719} {
		a, errA := fs.ReadFile(files, d.Samples[i].Path)
		b, errB := fs.ReadFile(same, again.Samples[i].Path)
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs from %s: %v, %v", d.Samples[i].Path, again.Samples[i].Path, errA, errB)
		}
		if c, err := jpeg.DecodeConfig(bytes.NewReader(a)); err != nil || c.Width != side || c.Height != side {
			t.Errorf("%s: %d×%d, %v", d.Samples[i].Path, c.Width, c.Height, err)
		}
	}
}
