package review

import (
	"fmt"
	"hash/crc64"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/eval/tsne"
	"winnow/internal/atomicfile"
	"winnow/internal/regular"
	"winnow/train/archive"
)

// begun is a t-SNE that is not finished: its state, nil before the first step, and a sum of the images and vectors that
// it is of.
type begun struct {
	state *tsne.State
	sum   string
}

// begunState is the state in a checkpoint; its points are arrays beside it.
type begunState struct {
	Iteration int    `json:"iteration"`
	Sum       string `json:"vectors"`
}

// mostAround bounds what a file of the map holds besides its images, in bytes.
const mostAround = 1 << 20

// nameMapCheckpoint returns the path of the checkpoint of t-SNE: beside the places.
func (r *Reviewer) nameMapCheckpoint() string {
	return strings.TrimSuffix(r.plane.file, filepath.Ext(r.plane.file)) + ".part"
}

// sumOf returns a CRC-64 of the paths and vectors of images.
func (r *Reviewer) sumOf(x blas32.General, rows []int32) string {
	sum := crc64.New(vectorTable)
	for i, image := range rows {
		fmt.Fprintf(sum, "%q %s\n", r.table.getImagePath(image), sumOfVector(vectorAt(x, i)))
	}
	return fmt.Sprintf("%016x", sum.Sum64())
}

// writeCheckpoint keeps the state of t-SNE.
func (r *Reviewer) writeCheckpoint(s tsne.State, sum string) error {
	pairs := func(name string, list []tsne.Point) archive.Array {
		flat := make([]float64, 0, 2*len(list))
		for _, p := range list {
			flat = append(flat, p.X, p.Y)
		}
		return archive.Float64s(name, flat)
	}
	return atomicfile.WriteOwn(r.nameMapCheckpoint(), func(w io.Writer) error {
		return archive.Write(w, begunState{s.Iteration, sum}, []archive.Array{pairs("points", s.Points),
			pairs("moved", s.Moved), pairs("gained", s.Gained), archive.Uint32s("order", s.Order)})
	})
}

// readCheckpoint reads the state of a t-SNE that was not finished.
func (r *Reviewer) readCheckpoint() (*tsne.State, string, error) {
	if r.plane.file == "" {
		return nil, "", os.ErrNotExist
	}
	f, err := regular.Open(r.nameMapCheckpoint())
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if most := int64(mostAround + 100*len(r.table.all)); err == nil && info.Size() > most {
		err = fmt.Errorf("has %d bytes, expected at most %d", info.Size(), most)
	}
	if err != nil {
		return nil, "", err
	}
	state, arrays, err := archive.Read[begunState](f, info.Size())
	if err != nil {
		return nil, "", err
	}
	if state.Iteration == 0 {
		return nil, state.Sum, nil
	}
	pairs := func(name string) (list []tsne.Point) {
		flat := arrays[name].F64
		for i := 0; i+1 < len(flat); i += 2 {
			list = append(list, tsne.Point{X: flat[i], Y: flat[i+1]})
		}
		return list
	}
	return &tsne.State{Iteration: state.Iteration, Points: pairs("points"), Moved: pairs("moved"),
		Gained: pairs("gained"), Order: arrays["order"].U32}, state.Sum, nil
}

// goOn begins what the first look at the map begins, if a t-SNE was not finished.
func (r *Reviewer) goOn() {
	if r.plane.file == "" {
		return
	}
	if _, err := os.Stat(r.nameMapCheckpoint()); err == nil {
		_ = r.arrangePlaces("") // without vectors the map says so itself
	}
}
