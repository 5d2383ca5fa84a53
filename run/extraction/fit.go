package extraction

import (
	"slices"

	"winnow/backbone"
	"winnow/features"
)

// squarish is the largest median aspect of pictures that are cropped. A usual crop, 224 of 256, shows two thirds of the
// length of a picture of 4:3, and 60 % of one of 3:2. Squashing distorts them less than the aspects of 3:4 to 4:3 that
// networks are usually trained with.
const squarish = 1.25

// sampled is how many pictures are measured, evenly over the list.
const sampled = 64

// Fit squashes pictures, and notes that, if the network's preprocessing crops them and most are much longer than wide.
// Callers call it if the user has not chosen a preprocessing. A store that exists, finished or begun, keeps its own.
// Call it before [Extraction.TakeShard], so that all shards agree.
func (e *Extraction) Fit(h Host) {
	p := e.Config.Preprocessing
	if p.Resize == 0 || p.Exact || p.Long {
		return
	}
	squashed := p.Fitted("squash")
	if key, ok := features.KeyIn(e.Out); ok && !e.Overwrite {
		if key.Preprocessing == squashed.Key() {
			e.Config.Preprocessing = squashed
		}
		if key.Preprocessing == squashed.Key() || key.Preprocessing == p.Key() {
			return
		}
	}
	if aspect := e.aspect(); aspect > squarish {
		e.Config.Preprocessing = squashed
		long := "as long as wide"
		if p.Height > 0 {
			long = "longer or wider than the network's shape"
		}
		h.Complete().Note("half of the pictures are at least %.2f times %s: they are squashed to %s, not "+
			"cropped (winnow extract --resize short crops them)", aspect, long, p.SizeText())
	}
}

// aspect returns the median ratio of the longer to the shorter side of a sample of pictures, after stretching them as
// would make the network's shape a square; 0 if none can be read.
func (e *Extraction) aspect() float64 {
	var list []float64
	n, p := min(sampled, len(e.Paths)), e.Config.Preprocessing
	for i := range n {
		if w, h, err := backbone.Size(e.Root, e.Paths[i*len(e.Paths)/n]); err == nil {
			w, h := w*p.High(), h*p.Crop
			list = append(list, float64(max(w, h))/float64(min(w, h)))
		}
	}
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[(len(list)-1)/2]
}
