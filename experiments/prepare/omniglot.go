package main

import (
	"archive/zip"
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"winnow/datasets"
	"winnow/internal/atomicfile"
)

// omniglot writes a zip file of all characters, white on black, and a manifest whose classes are split at random. Each
// character is in one split; an alphabet may be in several. The published drawings are black on white. They are
// inverted so that the zero padding of networks and augmentation looks like the background.
func omniglot(args []string, stdout, stderr io.Writer) error {
	f, out := newFlags("omniglot", stderr)
	test := f.Int("test", 60, "characters of the test split")
	validation := f.Int("validation", 40, "characters of the validation split")
	seed := f.Uint64("seed", 1, "seed of the random split")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *out == "" || f.NArg() == 0 {
		fmt.Fprint(stderr, usage)
		return flag.ErrHelp
	}
	drawings := map[string][]byte{}
	for _, name := range f.Args() {
		if err := readDrawings(drawings, name); err != nil {
			return err
		}
	}
	d, err := omniglotDataset(drawings, *test, *validation, *seed)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	err = atomicfile.Write(filepath.Join(*out, "omniglot.zip"), func(w io.Writer) error {
		return writeInverted(w, d.Paths(), drawings)
	})
	if err != nil {
		return err
	}
	return writeManifest(filepath.Join(*out, "omniglot.csv"), d, stdout)
}

// readDrawings adds the drawings of a zip file to all, by Alphabet/characterNN/file.png. A drawing that occurs in
// several zip files must be the same in all of them.
func readDrawings(all map[string][]byte, name string) error {
	z, err := zip.OpenReader(name)
	if err != nil {
		return fmt.Errorf("prepare: %s: %w", name, err)
	}
	defer z.Close()
	for _, f := range z.File {
		_, key, ok := strings.Cut(f.Name, "/") // without the outermost folder
		if !ok || path.Ext(key) != ".png" || strings.Count(key, "/") != 2 {
			continue
		}
		data, err := fs.ReadFile(z, f.Name)
		if err != nil {
			return fmt.Errorf("prepare: %s: %w", name, err)
		}
		if old, again := all[key]; again && !bytes.Equal(old, data) {
			return fmt.Errorf("prepare: %s: %s differs from the drawing in an earlier zip file", name, key)
		}
		all[key] = data
	}
	return nil
}

// omniglotDataset splits the characters.
func omniglotDataset(drawings map[string][]byte, test, validation int, seed uint64) (*datasets.Dataset, error) {
	ids := map[string]int{}
	d := &datasets.Dataset{}
	for _, p := range slices.Sorted(maps.Keys(drawings)) {
		class := path.Dir(p)
		if _, known := ids[class]; !known {
			ids[class] = len(ids)
			d.Classes = append(d.Classes, class)
		}
		d.Samples = append(d.Samples, datasets.Sample{Path: p, Label: ids[class], True: ids[class]})
	}
	if test < 1 || validation < 0 || test+validation >= len(d.Classes) {
		return nil, fmt.Errorf("prepare: %d test and %d validation characters of %d, expected some left for training",
			test, validation, len(d.Classes))
	}
	splits := make([]string, len(d.Classes))
	for k, class := range rand.New(rand.NewPCG(seed, 0x6f6d6e69)).Perm(len(d.Classes)) { // "omni"
		switch {
		case k < test:
			splits[class] = datasets.Test
		case k < test+validation:
			splits[class] = datasets.Validation
		default:
			splits[class] = datasets.Train
		}
	}
	for i := range d.Samples {
		d.Samples[i].Split = splits[d.Samples[i].Label]
	}
	return d, nil
}

// writeInverted writes the drawings into a zip file as greyscale images, white on black.
func writeInverted(w io.Writer, paths []string, drawings map[string][]byte) error {
	z := zip.NewWriter(w)
	for _, p := range paths {
		img, err := png.Decode(bytes.NewReader(drawings[p]))
		if err != nil {
			return fmt.Errorf("prepare: %s: %w", p, err)
		}
		b := img.Bounds()
		inverted := image.NewGray(image.Rect(0, 0, b.Dx(), b.Dy()))
		for y := range b.Dy() {
			for x := range b.Dx() {
				inverted.Pix[y*inverted.Stride+x] = 255 - color.GrayModel.Convert(img.At(b.Min.X+x,
					b.Min.Y+y)).(color.Gray).Y
			}
		}
		f, err := z.CreateHeader(&zip.FileHeader{Name: p, Method: zip.Store}) // PNG is compressed already
		if err == nil {
			err = png.Encode(f, inverted)
		}
		if err != nil {
			return fmt.Errorf("prepare: %s: %w", p, err)
		}
	}
	return z.Close()
}
