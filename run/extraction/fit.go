package extraction

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/datasets"
	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/filters/noiserate"
	"winnow/internal/atomicfile"
	"winnow/internal/regular"
)

const (
	// squarish is the largest median aspect ratio at which images are cropped if labels cannot decide. The usual crop,
	// 224 of 256, shows two thirds of the longer side of a 4:3 image, and 60 % of a 3:2 image. Squashing these distorts
	// them less than the random aspects of 3:4 to 4:3 with which networks are usually trained.
	squarish = 1.25

	// alike is the largest aspect ratio at which a cropped and a squashed image look about the same. If 90 % of the
	// images have at most this ratio, all images are cropped without a measurement.
	alike = 1.1

	sized = 64 // number of images whose size is read, evenly spread over the list

	// Cropped and squashed features are compared on at most compared images of at most rivals classes. With samples of
	// 256 images, the choice had the higher P@1 in 14 of 16 cases, with smaller samples in fewer (docs/log,
	// 2026-11-27).
	compared = 256
	rivals   = 16

	leastLabels = 32 // smallest number of labelled images, in classes of two or more, for a comparison
)

// Fit decides whether images are cropped, as the network's preprocessing states, or squashed, and notes the choice.
// Callers call it if the user has not chosen a preprocessing. An existing store, finished or not, keeps its own. If
// enough images are not square, Fit computes features of a sample in both ways, and takes the way that explains the
// given labels better ([noiserate.Explained]). The same images and labels always lead to the same choice. Without
// enough labels the aspect ratio decides.
//
// given returns the images with their labels; if it is nil or returns an error, no labels are used. Fit uses only given
// labels of the train and validation splits, and never true labels. Call Fit before [Extraction.TakeShard], so that all
// shards make the same choice.
func (e *Extraction) Fit(ctx context.Context, h Host, given func() (*datasets.Dataset, error)) error {
	if !e.canFit() {
		return nil
	}
	p := e.Config.Preprocessing
	squashed := p.Fitted("squash")
	if key, ok := features.KeyIn(e.Out); ok && !e.Overwrite {
		if key.Preprocessing == squashed.Key() {
			e.setPreprocessing(squashed)
		}
		if key.Preprocessing == squashed.Key() || key.Preprocessing == p.Key() {
			return nil
		}
	}
	aspects := e.sampleAspects()
	if len(aspects) == 0 || aspects[(len(aspects)-1)*9/10] <= alike {
		return nil
	}
	h = h.Complete()
	if done, err := e.measureFit(ctx, h, squashed, sampleLabelled(given)); done || err != nil {
		return err
	}
	if aspect := aspects[(len(aspects)-1)/2]; aspect > squarish {
		e.setPreprocessing(squashed)
		long := "as long as wide"
		if p.Height > 0 {
			long = "longer or wider than the network's shape"
		}
		h.Note("half of the images are at least %.2f times %s: they are squashed to %s, not "+
			"cropped (%s)", aspect, long, p.SizeText(), adviseOtherWay("short crops"))
	}
	return nil
}

// Could reports whether k is the key of this extraction for either choice of [Extraction.Fit], cropped or squashed.
func (e *Extraction) Could(k features.Key) bool {
	now := e.Key()
	if k.Differs(now) == "" {
		return true
	}
	now.Preprocessing = e.Config.Preprocessing.Fitted("squash").Key()
	return e.canFit() && k.Differs(now) == ""
}

// canFit reports whether Fit has a choice.
func (e *Extraction) canFit() bool {
	p := e.Config.Preprocessing
	return p.Resize > 0 && !p.Exact && !p.Long && !e.Model.Shaped
}

// adviseOtherWay returns the command line that chooses the other way, and its effect.
func adviseOtherWay(does string) string { return fmt.Sprintf("winnow extract --resize %s them", does) }

// setPreprocessing sets the preprocessing of the store, and of the network if it is trained afterwards.
func (e *Extraction) setPreprocessing(p backbone.Preprocessing) {
	e.Config.Preprocessing, e.Model.Preprocessing = p, p
}

// sampleAspects returns the sorted ratios of the longer to the shorter side for a sample of images. A ratio is relative
// to the network's input: an image of the input's shape has the ratio 1.
func (e *Extraction) sampleAspects() (list []float64) {
	n, p := min(sized, len(e.Paths)), e.Config.Preprocessing
	for i := range n {
		if w, h, err := backbone.Size(e.Root, e.Paths[i*len(e.Paths)/n]); err == nil {
			w, h := w*p.High(), h*p.Crop
			list = append(list, float64(max(w, h))/float64(min(w, h)))
		}
	}
	slices.Sort(list)
	return list
}

// labelled holds images and their given labels.
type labelled struct {
	paths  []string
	labels []int
}

// sampleLabelled returns the images on which cropping and squashing are compared: a similar number of images from each
// of some classes, evenly spread over the classes and over the images of each class. It prefers classes with more
// images. The result is empty if too few images have a label.
func sampleLabelled(given func() (*datasets.Dataset, error)) (s labelled) {
	if given == nil {
		return s
	}
	d, err := given()
	if err != nil || d == nil || len(d.Classes) < 2 {
		return s
	}
	learned := func(s datasets.Sample) bool { return s.Split == datasets.Train || s.Split == datasets.Validation }
	all := !slices.ContainsFunc(d.Samples, func(s datasets.Sample) bool { return learned(s) && s.Label >= 0 })
	classes, seen := make([][]string, len(d.Classes)), map[string]bool{}
	for _, s := range d.Samples {
		if s.Label >= 0 && (all || learned(s)) && !seen[s.Path] {
			seen[s.Path] = true
			classes[s.Label] = append(classes[s.Label], s.Path)
		}
	}
	sizes := make([]int, len(classes))
	for k, list := range classes {
		sizes[k] = len(list)
	}
	slices.Sort(sizes)
	least := min(sizes[max(len(sizes)-rivals, 0)], compared/rivals)
	classes = slices.DeleteFunc(classes, func(list []string) bool { return len(list) < max(least, 2) })
	n := min(len(classes), rivals)
	for k := range n {
		list := classes[k*len(classes)/n]
		m := min(len(list), compared/n)
		for i := range m {
			s.paths, s.labels = append(s.paths, list[i*len(list)/m]), append(s.labels, k)
		}
	}
	if n < 2 || len(s.paths) < leastLabels {
		return labelled{}
	}
	return s
}

// measureFit chooses cropping or squashing by which explains the labels of s better. done is false if s is too small.
func (e *Extraction) measureFit(ctx context.Context, h Host, squashed backbone.Preprocessing, s labelled) (done bool,
	err error) {
	if len(s.paths) == 0 {
		return false, nil
	}
	answer := fitAnswer{file: e.nameFitAnswer(s)}
	if answer.readAnswer() {
		if answer.Squashed {
			e.setPreprocessing(squashed)
		}
		h.Note("%s (measured before)", answer.Why)
		return true, nil
	}
	h.Note("embedding %d images both cropped and squashed, to choose how images are fitted to the network",
		len(s.paths))
	begin, quiet, own := time.Now(), h, *e
	quiet.Note = func(string, ...any) {}
	own.Paths, own.Config.Views, own.Config.Strict, own.Config.Known = s.paths, nil, false, true
	_, net, err := own.loadNetwork(quiet)
	if err != nil {
		return false, err
	}
	defer net.Close()
	var ways [2]features.Set
	for i, p := range []backbone.Preprocessing{e.Config.Preprocessing, squashed} {
		own.Config.Preprocessing = p
		w := &kept{Set: features.Set{X: features.NewMatrix(len(s.paths), net.Dim())}}
		if err := backbone.Extract(ctx, own.Config, net, e.Root, s.paths, w, nil); err != nil {
			if _, none := errors.AsType[*backbone.NoneReadable](err); none {
				return false, nil // the extraction returns this error
			}
			return false, adviseOnStop(err)
		}
		ways[i] = features.Set{X: w.X, Labels: s.labels}
	}
	var rows []int
	zero := func(x []float32) bool { return !slices.ContainsFunc(x, func(v float32) bool { return v != 0 }) }
	for i := range s.paths {
		if !zero(ways[0].Row(i)) && !zero(ways[1].Row(i)) { // rows of unreadable images are zero
			rows = append(rows, i)
		}
	}
	var said [2]float64
	for i, set := range ways {
		if said[i], err = labelProbability(ctx, set.Rows(rows)); errors.Is(err, errFew) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	size, took := squashed.SizeText(), time.Since(begin).Round(time.Second/10)
	way, other, undo := "cropped", "squashed", "squash squashes"
	if said[1] > said[0] {
		way, other, undo = "squashed", "cropped", "short crops"
		e.setPreprocessing(squashed)
	}
	answer.Squashed = said[1] > said[0]
	answer.Why = fmt.Sprintf("images are %s to %s, not %s: label likelihood %.3f %s, %.3f %s (%d images tried in %v; "+
		"%s)", way, size, other, max(said[0], said[1]), way, min(said[0], said[1]), other, len(rows), took,
		adviseOtherWay(undo))
	h.Note("%s", answer.Why)
	answer.writeAnswer()
	return true, nil
}

// fitAnswer is the result of a measurement as kept in the user's cache folder, so that no later command repeats it.
type fitAnswer struct {
	Squashed bool   `json:"squashed"`
	Why      string `json:"why"`
	file     string // "": there is no cache folder
}

// AnswersFolder holds the answers; "": the folder winnow/fits in the user's cache folder.
var AnswersFolder string

// nameFitAnswer returns the file of the answer for the network and these images, by path, size and time, and labels.
func (e *Extraction) nameFitAnswer(s labelled) string {
	dir := AnswersFolder
	if cache, err := os.UserCacheDir(); dir == "" && err == nil {
		dir = filepath.Join(cache, "winnow", "fits")
	} else if dir == "" {
		return ""
	}
	sum := sha256.New()
	key := e.Key()
	key.Images = ""
	fmt.Fprintf(sum, "%+v\n", key)
	for i, path := range s.paths {
		info, err := fs.Stat(e.Root, path)
		if err != nil {
			return ""
		}
		fmt.Fprintf(sum, "%q %d %d %d\n", path, s.labels[i], info.Size(), info.ModTime().UnixNano())
	}
	return filepath.Join(dir, fmt.Sprintf("%x.json", sum.Sum(nil)))
}

// readAnswer reports whether the answer is known.
func (a *fitAnswer) readAnswer() bool {
	data, err := regular.ReadFile(a.file, 1<<16)
	return err == nil && json.Unmarshal(data, a) == nil && a.Why != ""
}

// writeAnswer keeps the answer. Without it, the next command measures again.
func (a *fitAnswer) writeAnswer() {
	data, err := json.Marshal(a)
	if err == nil && a.file != "" && os.MkdirAll(filepath.Dir(a.file), 0o700) == nil {
		_ = atomicfile.WriteBytes(a.file, data)
	}
}

var errFew = errors.New("too few classes to compare")

// labelProbability returns the geometric mean probability of the labels by the features, which it centres first.
func labelProbability(ctx context.Context, z features.Set) (float64, error) {
	mean := make([]float64, z.Dim())
	for i := range z.Len() {
		for j, v := range z.Row(i) {
			mean[j] += float64(v) / float64(z.Len())
		}
	}
	for i := range z.Len() {
		for j, v := range z.Row(i) {
			z.Row(i)[j] = v - float32(mean[j])
		}
	}
	s, err := leaveout.New(z, rivals)
	if err != nil {
		return 0, errFew
	}
	return noiserate.Explained(ctx, s)
}

// kept is a backbone.RowWriter that holds the vectors in memory.
type kept struct {
	features.Set
	rows int
}

func (k *kept) Rows() int           { return k.rows }
func (k *kept) Bad() []features.Bad { return nil }
func (k *kept) Flush() error        { return nil }

func (k *kept) Append(x blas32.General, _ []features.Bad) error {
	for i := range x.Rows {
		copy(k.Row(k.rows), features.Row(x, i))
		k.rows++
	}
	return nil
}
