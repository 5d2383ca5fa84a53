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

// The largest allowed difference between numbers of unit vectors.
const (
	exportLimit = 1e-5 // between the joined model and winnow's own computation on the same pixels
	storedLimit = 1e-3 // between today's embeddings and those of the stored features, computed in other batches
	halfLimit   = 1e-2 // the same for features stored as float16
)

// Pixels that the check of a joined model runs on.
const (
	OnImages = "images"
	OnNoise  = "random pixels"
)

// Check compares the joined model with winnow's own computation.
type Check struct {
	Images  int      `json:"images"`
	Pixels  string   `json:"pixels"`             // images or random pixels
	Largest float64  `json:"largest_difference"` // of any number of the unit vectors
	Limit   float64  `json:"limit"`
	Stored  *float64 `json:"stored_difference"` // of winnow's own vectors from the stored features; null without images
}

func (e Check) String() string {
	on := "images"
	if e.Pixels == OnNoise {
		on = "pictures of random pixels, as no image could be read (give --root)"
	}
	text := fmt.Sprintf("agrees with winnow's own on %d %s: largest difference %.2g, at most %.0g allowed", e.Images,
		on,
		e.Largest, e.Limit)
	if e.Stored != nil {
		text += fmt.Sprintf("; embeddings of the stored features differ by %.2g", *e.Stored)
	}
	return text
}

// Check compares the model with backbone and head as winnow runs them, on at most n images spread over the manifest or,
// if no image can be read, on random pixels. Facts for the user are noted.
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
		return result, fmt.Errorf("its vectors differ from winnow's own by up to %.3g on %d %s, expected at most %.0g",
			v.largest, v.count, result.Pixels, exportLimit)
	}
	if result.Pixels == OnNoise {
		return result, nil
	}
	return result, j.compareStored(rt, rows, v.getOwnVectors(), &result, note)
}

// compareStored compares today's embeddings of images with those of their stored features. Other batches and another
// processor explain small differences; large ones come from other images or another model.
func (j Joined) compareStored(rt *ort.Runtime, rows []int, today blas32.General, result *Check,
	note func(format string, args ...any)) error {
	r := j.run
	// a few rows; the ONNX file takes the centre, independent of --view
	x, err := r.Store.ReadViews(context.Background(), rows)
	if err != nil {
		return err
	}
	stored, err := r.Head.Embed(features.Part(x, 0, len(rows)))
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
		note("embeddings differ by up to %.3g from those of the stored features: an earlier winnow decoded "+
			"their images, "+
			"winnow extract --overwrite makes them again", d)
		return nil
	}
	if r.Store.Key.Precision != "" {
		note("embeddings in float32 differ by up to %.3g from those of the stored features, which were computed in %s",
			d, r.Store.Key.Precision)
		return nil
	}
	if device := rt.Where(); device != r.Store.Device {
		note("embeddings on %s differ by up to %.3g from those of the stored features, which were made on %s", device,
			d,
			r.Store.Device)
		return nil
	}
	return hint.With(fmt.Errorf("embeddings computed from the images and from the stored features differ by up to "+
		"%.3g, expected at most %.0g", d, limit),
		"the images have changed or --root names others: extract again, or name the right folder")
}

// checkOnImages passes at most n images, taken evenly from the manifest, to v and returns their rows of the store. It
// returns none if no image can be read; in a folder that the user names that is an error.
func (j Joined) checkOnImages(v *verifier, n int, q *backbone.Preprocessor,
	note func(format string, args ...any)) (rows []int, err error) {
	root := j.run.ImageRoot()
	paths, stored := j.listReadable()
	fsys, failed := imageroot.Open(context.Background(), root)
	if len(paths) == 0 {
		failed = errors.New("the store has no readable image of the manifest")
	}
	n = min(n, len(paths))
	for i := 0; i < n && fsys != nil; i++ {
		at := i * len(paths) / n
		if err := readImage(v.getNextPicture(), fsys, paths[at], j.Backbone.Preprocessing, q); err != nil {
			if failed == nil {
				failed = err
			}
			continue
		}
		rows = append(rows, stored[at])
		if err := v.flushIfFull(); err != nil {
			return nil, err
		}
	}
	switch {
	case len(rows) > 0:
		return rows, v.flushPictures()
	case !j.run.Root.IsZero():
		return nil, fmt.Errorf("--root %s: none of the images to check on can be read: %w", root, failed)
	}
	note("no image can be read below %s (%v): checking on random pixels; --root names the folder of the images", root,
		failed)
	return nil, nil
}

// listReadable lists the images of the manifest that have vectors in the store, and their rows there.
func (j Joined) listReadable() (paths []string, rows []int) {
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

// checkOnNoise passes n pictures of random bytes to v, preprocessed like images. The bytes are always the same.
func checkOnNoise(v *verifier, n int, p backbone.Preprocessing, q *backbone.Preprocessor) error {
	rng := rand.New(rand.NewPCG(1, 0x6e6f697365)) // "noise"
	img := image.NewNRGBA(image.Rect(0, 0, p.Crop, p.High()))
	for range n {
		for j := range img.Pix {
			img.Pix[j] = byte(rng.Uint32())
		}
		if err := q.Into(v.getNextPicture(), img); err != nil {
			return err
		}
		if err := v.flushIfFull(); err != nil {
			return err
		}
	}
	return v.flushPictures()
}

// readImage fills dst with an image as the network takes it.
func readImage(dst []float32, fsys fs.FS, path string, p backbone.Preprocessing, q *backbone.Preprocessor) error {
	return backbone.ReadImage(fsys, path, p.DecodeOptions(), func(img image.Image) error { return q.Into(dst, img) })
}
