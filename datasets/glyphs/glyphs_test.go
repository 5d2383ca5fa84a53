package glyphs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/png"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"winnow/datasets"
)

func TestNewIsClassDisjoint(t *testing.T) {
	d, _, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Classes) != 240 || len(d.Samples) != 240*DefaultImages {
		t.Fatalf("%d classes and %d samples, expected 240 and %d", len(d.Classes), len(d.Samples), 240*DefaultImages)
	}
	splits := map[int]string{}
	count := map[string]int{}
	for _, s := range d.Samples {
		if s.Label != s.True {
			t.Fatalf("%s: label %d is not the truth %d", s.Path, s.Label, s.True)
		}
		if was, seen := splits[s.True]; seen && was != s.Split {
			t.Fatalf("class %d is in %s and %s", s.True, was, s.Split)
		} else if !seen {
			count[s.Split]++
		}
		splits[s.True] = s.Split
		if want := s.Split + "/" + d.Classes[s.True] + "/"; !strings.HasPrefix(s.Path, want) {
			t.Fatalf("%s is not under %s", s.Path, want)
		}
	}
	want := map[string]int{datasets.Train: 120, datasets.Validation: 40, datasets.Test: 80}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Error(diff)
	}
}

func TestConfigBounds(t *testing.T) {
	for _, bad := range []Config{{Classes: 11}, {Classes: 241}, {Classes: -1}, {Images: 1}, {Images: -3},
		{Images: maxImages + 1}} {
		if _, _, err := New(bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
	for _, classes := range []int{12, 13, 100, 239} {
		d, _, err := New(Config{Classes: classes, Images: 2})
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Classes) != classes || len(d.Samples) != 2*classes {
			t.Errorf("%d classes: %d and %d samples", classes, len(d.Classes), len(d.Samples))
		}
	}
}

// The pixels are the same on every machine and with every version of Go. This sum may change only if both the dataset
// and the backbone trained on it change.
func TestPixelsAreFixed(t *testing.T) {
	const want = "30856ec0221a0fdf0b058a266ec4ea2dc7d1d2cd7095c5d216a0b2b6c2e039c2"
	d, files, err := New(Config{Images: 4, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	for _, path := range d.Paths() {
		data, err := fs.ReadFile(files, path)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(img.(*image.Gray).Pix)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		t.Errorf("sha256 of %d images is %s, expected %s", len(d.Samples), got, want)
	}
}

func TestImagesAreGreyPNG(t *testing.T) {
	d, files, err := New(Config{Classes: 24, Images: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range d.Paths() {
		data, err := fs.ReadFile(files, path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		grey, ok := m.(*image.Gray)
		if !ok || grey.Rect != image.Rect(0, 0, Size, Size) {
			t.Fatalf("%s: decoded as %T %v", path, m, m.Bounds())
		}
		low, high := byte(255), byte(0)
		for _, p := range grey.Pix {
			low, high = min(low, p), max(high, p)
		}
		if high-low < 30 {
			t.Errorf("%s: grey levels %d … %d: nothing to see", path, low, high)
		}
	}
}

func TestConcurrentReadsAgree(t *testing.T) {
	d, files, err := New(Config{Classes: 12, Images: 4})
	if err != nil {
		t.Fatal(err)
	}
	want := make([][]byte, len(d.Samples))
	for i, s := range d.Samples {
		want[i], _ = fs.ReadFile(files, s.Path)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for i, s := range d.Samples {
				if got, err := fs.ReadFile(files, s.Path); err != nil || !bytes.Equal(got, want[i]) {
					t.Errorf("%s differs when read concurrently (%v)", s.Path, err)
				}
			}
		})
	}
	wait.Wait()
}

func TestCharacters(t *testing.T) {
	split := map[rune]string{}
	letters := map[rune]string{}
	for _, s := range []string{datasets.Train, datasets.Validation, datasets.Test, Pretrain} {
		list := Characters(s)
		if s == Pretrain && len(list) < 1000 {
			t.Errorf("only %d characters to pretrain on", len(list))
		}
		for _, c := range list {
			if split[c.Char] != "" {
				t.Errorf("%U is in %s and %s", c.Char, split[c.Char], s)
			}
			split[c.Char] = s
			base := unicode.ToLower([]rune(norm.NFD.String(string(c.Char)))[0])
			if other := letters[base]; other != "" && other != s {
				t.Errorf("%U: forms of %c are in %s and %s", c.Char, base, other, s)
			}
			letters[base] = s
		}
	}
}
