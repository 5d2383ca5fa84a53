package embedding

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone/ort"
	"winnow/features"
	"winnow/head"
	"winnow/run/extraction"
)

// verifiedBatch is how many pictures are run at once, so that few are in memory.
const verifiedBatch = 16

// verifier computes unit vectors of pictures both by the joined model and by backbone and head as winnow runs them, and
// keeps the largest difference.
type verifier struct {
	backbone, joined *ort.Network
	head             *head.Head

	size    int       // numbers of one picture
	pixels  []float32 // of a batch
	waiting int       // pictures in it

	count   int     // pictures checked
	largest float64 // difference of any two numbers; NaN if one is NaN
	ours    []float32
}

func openVerifier(rt *ort.Runtime, j Joined) (*verifier, error) {
	p := j.Backbone.Preprocessing
	in := extraction.NetworkInput(j.cut, p)
	v := &verifier{head: j.run.Head, size: p.Size(), pixels: make([]float32, verifiedBatch*p.Size())}
	var err error
	if v.backbone, err = ort.NewNetwork(rt, j.cut.Model, j.cut.Tensor, in); err != nil {
		return nil, err
	}
	if v.joined, err = ort.NewNetwork(rt, j.Model, j.Output, in); err != nil {
		return nil, errors.Join(err, v.backbone.Close())
	}
	return v, nil
}

// getNextPicture returns where to write the next picture; call take once it is written.
func (v *verifier) getNextPicture() []float32 {
	return v.pixels[v.waiting*v.size : (v.waiting+1)*v.size]
}

func (v *verifier) flushIfFull() error {
	if v.waiting++; v.waiting < verifiedBatch {
		return nil
	}
	return v.flushPictures()
}

// flushPictures runs the waiting pictures.
func (v *verifier) flushPictures() error {
	n := v.waiting
	if n == 0 {
		return nil
	}
	x := features.NewMatrix(n, v.backbone.Dim())
	if err := v.backbone.Infer(x, v.pixels[:n*v.size], n); err != nil {
		return err
	}
	ours, err := v.head.Embed(x)
	if err != nil {
		return err
	}
	theirs := features.NewMatrix(n, v.joined.Dim())
	if err := v.joined.Infer(theirs, v.pixels[:n*v.size], n); err != nil {
		return err
	}
	if d := largestDifference(ours, theirs); math.IsNaN(d) || d > v.largest {
		v.largest = d
	}
	v.ours = append(v.ours, ours.Data...)
	v.count, v.waiting = v.count+n, 0
	return nil
}

// getOwnVectors returns winnow's own vectors of all pictures so far.
func (v *verifier) getOwnVectors() blas32.General {
	d := v.head.Config().Out
	return blas32.General{Rows: v.count, Cols: d, Stride: d, Data: v.ours}
}

// Close frees both models.
func (v *verifier) Close() error { return errors.Join(v.backbone.Close(), v.joined.Close()) }

// largestDifference returns the largest difference of two numbers in the same place; NaN if one is NaN, infinite if the
// shapes differ.
func largestDifference(a, b blas32.General) float64 {
	if a.Rows != b.Rows || a.Cols != b.Cols {
		return math.Inf(1)
	}
	largest := 0.0
	for i := range a.Rows {
		x, y := features.Row(a, i), features.Row(b, i)
		for j := range x {
			largest = max(largest, math.Abs(float64(x[j])-float64(y[j]))) // max keeps NaN
		}
	}
	return largest
}
