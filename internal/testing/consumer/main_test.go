package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"winnow/audit/suspects"
	"winnow/models"
)

// writePhotos writes 80 images in 4 class folders: stripes of four directions; every tenth is in a wrong folder.
func writePhotos(t *testing.T, dir string) (wrong map[string]bool) {
	t.Helper()
	rng, wrong := rand.New(rand.NewPCG(1, 2)), make(map[string]bool)
	for i := range 80 {
		img := image.NewGray(image.Rect(0, 0, 32, 32))
		step := [][2]int{{1, 0}, {0, 1}, {1, 1}, {1, -1}}[i%4]
		shift := rng.IntN(8)
		for y := range 32 {
			for x := range 32 {
				if (x*step[0]+y*step[1]+shift+64)%8 < 4 {
					img.SetGray(x, y, color.Gray{Y: uint8(200 + rng.IntN(56))})
				}
			}
		}
		class := i % 4
		if i%10 == 0 {
			class = (class + 1) % 4
		}
		path := fmt.Sprintf("class%d/%02d.png", class, i)
		wrong[path] = i%10 == 0
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(dir, path))
		if err == nil {
			err = png.Encode(f, img)
		}
		if err != nil || f.Close() != nil {
			t.Fatal(err)
		}
	}
	return wrong
}

func TestConsumer(t *testing.T) {
	dir := t.TempDir()
	photos, out := filepath.Join(dir, "photos"), filepath.Join(dir, "run")
	wrong := writePhotos(t, photos)
	program := filepath.Join(dir, "consumer")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	said, err := exec.Command(program, photos, "glyphnet", out).CombinedOutput()
	t.Logf("%s", said)
	if err != nil {
		t.Fatal(err)
	}
	list, err := suspects.Read(filepath.Join(out, "suspects.csv"))
	if err != nil || len(list) != 80 {
		t.Fatalf("%d suspects, %v", len(list), err)
	}
	found := 0
	for _, s := range list[:8] {
		if wrong[s.Path] {
			found++
		}
	}
	if found < 6 {
		t.Errorf("of the 8 most suspect labels %d are wrong", found)
	}
	if lines := strings.Split(string(said), "\n"); !strings.HasPrefix(lines[0], "1.000 "+list[0].Path) {
		t.Errorf("the image nearest to %s is %q", list[0].Path, lines[0])
	}
	if h, _, err := models.ReadHead(filepath.Join(out, "head.winnow")); err != nil || h.Config().In != 192 {
		t.Errorf("head: %v", err)
	}
}
