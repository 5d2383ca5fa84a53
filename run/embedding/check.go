package embedding

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/datasets/imageroot"
	"winnow/features"
	"winnow/internal/hint"
)

// How far numbers of unit vectors may lie apart.
const (
	exportLimit = 1e-5 // the joined model from winnow's own way, on the same pixels
	storedLimit = 1e-3 // today's embeddings from those of the stored features, made in other batches
	halfLimit   = 1e-2 // the same, of features stored as float16
)

// What the check of a joined model runs on.
const (
	OnImages = "images"
	OnNoise  = "random pixels"
)

// Check is how the joined model fared beside winnow's own way.
type Check struct {
	Images  int      `json:"images"`
	Pixels  string   `json:"pixels"`             // images or random pixels
	Largest float64  `json:"largest_difference"` // of any number of the unit vectors
	Limit   float64  `json:"limit"`
	Stored  *float64 `json:"stored_difference"` // of winnow's own from those of the stored features; null without images
}

func (e Check) String() string {
	text := fmt.Sprintf("agrees with winnow's own on %d images: largest difference %.2g, at most %.0g allowed", e.Images, e.Largest, e.Limit)
	if e.Pixels == OnNoise {
		text = fmt.Sprintf("agrees with winnow's own on %d pictures of random pixels, as no image could be read (give --root): largest difference %.2g, at most %.0g allowed", e.Images, e.Largest, e.Limit)
	}
	if e.Stored != nil {
		text += fmt.Sprintf("; embeddings of the stored features differ by %.2g", *e.Stored)
	}
	return text
}

// Check runs the model on at most n images of the manifest, spread over it, beside backbone and head as winnow runs them,
// or, if no image can be read, on random pixels. Facts for the user are noted.
func (j Joined) Check(rt *ort.Runtime, n int, note func(format string, args ...any)) (Check, error) {
	result := Check{Limit: exportLimit, Pixels: OnImages}
	p := j.Backbone.Preprocessing
	q, err := backbone.NewPreprocessor(p)
	if err != nil {
		return result, err
	}
	v, err := openVerifier(rt, j)
	if err != nil {
		return result, err
	}
	defer v.Close()
	rows, err := j.checkOnImages(v, n, q, note)
	if err == nil && len(rows) == 0 {
		result.Pixels = OnNoise
		err = checkOnNoise(v, n, p, q)
	}
	if err != nil {
		return result, err
	}
	if result.Images, result.Largest = v.count, v.largest; !(v.largest <= exportLimit) {
		return result, fmt.Errorf("its vectors differ from winnow's own by up to %.3g on %d %s, expected at most %.0g", v.largest, v.count, result.Pixels, exportLimit)
	}
	if result.Pixels == OnNoise {
		return result, nil
	}
	return result, j.compareStored(rt, rows, v.own(), &result, note)
}

// compareStored holds today's embeddings of images against those of their stored features. Other batches and
// another processor explain some of it; other images or another model do not.
func (j Joined) compareStored(rt *ort.Runtime, rows []int, today blas32.General, result *Check, note func(format string, args ...any)) error {
	r := j.run
	x, err := r.Store.ReadView(context.Background(), rows, 0) // a few rows; the ONNX file sees the centre, whatever --view says
	if err != nil {
		return err
	}
	stored, err := r.Head.Embed(x)
	if err != nil {
		return err
	}
	d := largestDifference(today, stored)
	result.Stored = &d
	limit := storedLimit
	if r.Store.Key.Element() == features.Float16 {
		limit = halfLimit
	}
	if d <= limit {
		return nil
	}
	if now := j.Backbone.Preprocessing.DecoderVersion(); now != r.Store.Key.Decoder {
		note("embeddings differ by up to %.3g from those of the stored features: an earlier winnow decoded their images, winnow extract --overwrite makes them again", d)
		return nil
	}
	if device := rt.Where(); device != r.Store.Device {
		note("embeddings on %s differ by up to %.3g from those of the stored features, which were made on %s", device, d, r.Store.Device)
		return nil
	}
	return hint.With(fmt.Errorf("embeddings of the images differ by up to %.3g from those of their stored features, expected at most %.0g", d, limit),
		"the images have changed or --root names others: extract again, or name the right folder")
}

// checkOnImages shows at most n images, taken evenly from the manifest, and returns their rows of the store. No rows mean
// that no image is at hand; in a folder that the user names that is an error.
func (j Joined) checkOnImages(v *verifier, n int, q *backbone.Preprocessor, note func(format string, args ...any)) (rows []int, err error) {
	root := j.run.ImageRoot()
	paths, stored := j.readable()
	fsys, failed := imageroot.Open(context.Background(), root)
	if len(paths) == 0 {
		failed = errors.New("the store has a readable one for none of the manifest's")
	}
	n = min(n, len(paths))
	for i := 0; i < n && fsys != nil; i++ {
		at := i * len(paths) / n
		if err := readImage(v.next(), fsys, paths[at], j.Backbone.Preprocessing, q); err != nil {
			if failed == nil {
				failed = err
			}
			continue
		}
		rows = append(rows, stored[at])
		if err := v.take(); err != nil {
			return nil, err
		}
	}
	switch {
	case len(rows) > 0:
		return rows, v.flush()
	case !j.run.Root.IsZero():
		return nil, fmt.Errorf("--root %s: none of the images to check on can be read: %w", root, failed)
	}
	note("no image can be read below %s (%v): checking on random pixels; --root names the folder of the images", root, failed)
	return nil, nil
}

// readable lists the images of the manifest that the store has vectors of, and their rows there.
func (j Joined) readable() (paths []string, rows []int) {
	r := j.run
	all := r.Manifest.Paths()
	found, _ := r.Store.Lookup(all)
	bad := r.Store.BadRows()
	for i, row := range found {
		if _, is := bad[row]; row >= 0 && !is {
			paths, rows = append(paths, all[i]), append(rows, row)
		}
	}
	return paths, rows
}

// checkOnNoise shows n pictures of random bytes, prepared as images are. The bytes are always the same ones.
func checkOnNoise(v *verifier, n int, p backbone.Preprocessing, q *backbone.Preprocessor) error {
	rng := rand.New(rand.NewPCG(1, 0x6e6f697365)) // "noise"
	img := image.NewNRGBA(image.Rect(0, 0, p.Crop, p.Crop))
	for range n {
		for j := range img.Pix {
			img.Pix[j] = byte(rng.Uint32())
		}
		if err := q.Into(v.next(), img); err != nil {
			return err
		}
		if err := v.take(); err != nil {
			return err
		}
	}
	return v.flush()
}

// readImage fills dst with one image as the network sees it.
func readImage(dst []float32, fsys fs.FS, path string, p backbone.Preprocessing, q *backbone.Preprocessor) error {
	return backbone.ReadImage(fsys, path, p.DecodeOptions(), func(img image.Image) error { return q.Into(dst, img) })
}
