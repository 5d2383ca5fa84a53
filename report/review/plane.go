package review

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/eval/tsne"
	"winnow/report/atlas"
	"winnow/report/reply"
)

// Ways to put the images' vectors on a plane.
const (
	byComponents = "pca"  // the first two principal components, at once
	byLikeness   = "tsne" // t-SNE, in the background
)

// plane is the map: a place for each image that has a vector. The places by t-SNE are kept in a file.
type plane struct {
	mutex  sync.Mutex
	method string // of the places; "": there are none
	at     []spot // of the images of the manifest
	points int    // images that have a place
	share  [2]float64
	works  string        // the method that is computed now; "": none
	done   int           // its steps
	steps  int           // of t-SNE
	pause  time.Duration // between two checkpoints
	failed string        // why the last one has no result
	file   string        // of the places by t-SNE; "": they are not kept
	worker sync.WaitGroup
}

// spot is a place in the unit square, y downwards; NaN: none.
type spot struct{ x, y float32 }

var nowhere = spot{float32(math.NaN()), float32(math.NaN())}

// fewestPoints is the least number of images of a map.
const fewestPoints = 5

// planeSteps is the number of steps of t-SNE, and planePause the time between two checkpoints of it.
const (
	planeSteps = 1000
	planePause = 10 * time.Second
)

// planeState is the state of the map as JSON.
type planeState struct {
	Method string     `json:"method"` // "": there is no place yet
	Points int        `json:"points"`
	Share  [2]float64 `json:"share"` // of the variance, by principal components
	Works  string     `json:"works"` // the method that is computed now
	Done   int        `json:"done"`
	Steps  int        `json:"steps"`
	Failed string     `json:"failed"`
	Light  []string   `json:"light"` // colours of the classes on light paper, by their numbers
	Dark   []string   `json:"dark"`
}

func (r *Reviewer) planeState() planeState {
	p := &r.plane
	p.mutex.Lock()
	defer p.mutex.Unlock()
	s := planeState{Method: p.method, Points: p.points, Share: p.share, Works: p.works, Done: p.done,
		Steps: p.steps, Failed: p.failed}
	s.Light, s.Dark = atlas.Colours(len(r.Manifest.Classes))
	return s
}

// getPlane returns the state of the map. The first time it begins to compute principal components, unless places are
// kept.
func (r *Reviewer) getPlane(_ *http.Request, values url.Values) (any, error) {
	p := &parameters{values: values}
	if err := p.getFirstFailure(); err != nil {
		return nil, asBadRequest(err)
	}
	if err := r.arrangePlaces(""); err != nil {
		return nil, err
	}
	return r.planeState(), nil
}

// postPlane begins to compute places.
func (r *Reviewer) postPlane(body struct {
	Method string `json:"method"`
}) (int, any, error) {
	if body.Method != byComponents && body.Method != byLikeness {
		return 0, nil, reply.Refuse(http.StatusBadRequest, "method: found %.40q, expected %s or %s", body.Method,
			byComponents, byLikeness)
	}
	if err := r.arrangePlaces(body.Method); err != nil {
		return 0, nil, err
	}
	return http.StatusOK, r.planeState(), nil
}

// arrangePlaces begins to compute places by a method, in the background. "" is the method to begin with; then nothing
// is done if there are places, or there were none to compute.
func (r *Reviewer) arrangePlaces(method string) error {
	v, ok := r.Finder.(Vectors)
	if !ok {
		return reply.Refuse(http.StatusNotFound,
			"the server has no vectors of the images: start it with features or a run")
	}
	p := &r.plane
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.works != "" || method == "" && (p.method != "" || p.failed != "") {
		return nil
	}
	first := method == ""
	if first {
		method = byComponents
	}
	p.works, p.done, p.failed = method, 0, ""
	p.worker.Go(func() {
		var err error
		if first {
			err = r.beginPlaces(v)
		} else {
			err = r.computePlaces(v, method, nil)
		}
		p.mutex.Lock()
		defer p.mutex.Unlock()
		if p.works = ""; err != nil {
			p.failed = err.Error()
		}
	})
	return nil
}

// beginPlaces takes the places of the file, if there is one, else principal components. Then it goes on with a t-SNE
// that an earlier server did not finish.
func (r *Reviewer) beginPlaces(v Vectors) error {
	p := &r.plane
	used, err := r.reusePlaces(v)
	if used == "" && err != nil {
		err = fmt.Errorf("%s is not used: %w", p.file, err)
	}
	if used == "" {
		if failed := r.computePlaces(v, byComponents, nil); failed != nil {
			return failed
		}
	}
	from, sum, failed := r.readCheckpoint()
	switch {
	case errors.Is(failed, fs.ErrNotExist):
		return err
	case failed != nil:
		return fmt.Errorf("%s is not used: %w", r.nameMapCheckpoint(), failed)
	}
	p.mutex.Lock()
	p.works = byLikeness
	p.mutex.Unlock()
	if failed := r.computePlaces(v, byLikeness, &begun{from, sum}); failed != nil {
		return failed
	}
	return err
}

// computePlaces computes places; from is where t-SNE goes on, nil: from the start.
func (r *Reviewer) computePlaces(v Vectors, method string, from *begun) error {
	p := &r.plane
	x, rows, err := r.readUnitVectors(v)
	if err != nil {
		return err
	}
	if len(rows) < fewestPoints {
		return fmt.Errorf("the features have a vector of %d of the %d images, expected %d or more", len(rows),
			len(r.table.all), fewestPoints)
	}
	if method == byComponents {
		c, err := tsne.PCA(x)
		if err != nil {
			return err
		}
		at, _ := fitUnitSquare(len(r.table.all), rows, c.Points)
		p.takePlaces(method, at, c.Share)
		return nil
	}
	sum := r.sumOf(x, rows)
	o := tsne.Options{Iterations: p.steps, Seed: 1}
	if from != nil && from.state != nil && from.sum != sum {
		return fmt.Errorf("%s is not used: it is of other images or vectors", r.nameMapCheckpoint())
	}
	if from != nil {
		o.From = from.state
	}
	// The first checkpoint is there before the neighbours, which take minutes for many images. A checkpoint that cannot
	// be written is left out; the result is written in any case, or its error told.
	if p.file != "" && o.From == nil {
		_ = r.writeCheckpoint(tsne.State{}, sum)
	}
	saved := time.Now()
	o.Stepped = func(s tsne.State) {
		p.mutex.Lock()
		p.done = s.Iteration
		p.mutex.Unlock()
		if p.file != "" && time.Since(saved) >= p.pause {
			_ = r.writeCheckpoint(s, sum)
			saved = time.Now()
		}
	}
	points, _, err := tsne.Embed(r.ending, x, o)
	if err != nil {
		return err
	}
	at, side := fitUnitSquare(len(r.table.all), rows, points)
	p.takePlaces(method, at, [2]float64{})
	if p.file == "" {
		return nil
	}
	if err := r.writePlane(x, rows, at, side); err != nil {
		return err
	}
	return ignoreMissing(os.Remove(r.nameMapCheckpoint()))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// takePlaces replaces the places.
func (p *plane) takePlaces(method string, at []spot, share [2]float64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.method, p.at, p.points, p.share = method, at, 0, share
	for _, s := range at {
		if s.x == s.x {
			p.points++
		}
	}
}

// readUnitVectors reads the vectors of all images that have one, of length 1, and their rows in the manifest. It takes
// the turn of a search.
func (r *Reviewer) readUnitVectors(v Vectors) (x blas32.General, rows []int32, err error) {
	return r.vectorsOf(v, r.Manifest.Paths())
}

// vectorsOf is vectors for some images; the rows are positions in paths.
func (r *Reviewer) vectorsOf(v Vectors, paths []string) (x blas32.General, rows []int32, err error) {
	select {
	case r.searches.turn <- struct{}{}:
		defer func() { <-r.searches.turn }()
	case <-r.ending.Done():
		return x, nil, r.ending.Err()
	}
	if x, _, err = v.Rows(paths); err != nil {
		return x, nil, err
	}
	n := 0
	for i := range x.Rows {
		row := vectorAt(x, i)
		norm := blas32.Nrm2(blas32.Vector{N: x.Cols, Inc: 1, Data: row})
		if norm == 0 {
			continue
		}
		for j, f := range row {
			x.Data[n*x.Stride+j] = f / norm
		}
		rows = append(rows, int32(i))
		n++
	}
	x.Rows = n
	return x, rows, nil
}

// vectorAt returns row i of x.
func vectorAt(x blas32.General, i int) []float32 { return x.Data[i*x.Stride : i*x.Stride+x.Cols] }

// fitUnitSquare moves points into the unit square, with the same scale on both axes, and returns the side of the square
// in the units of the points.
func fitUnitSquare(images int, rows []int32, points []tsne.Point) (at []spot, side float64) {
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, p := range points {
		for k, v := range [2]float64{p.X, p.Y} {
			low[k], high[k] = min(low[k], v), max(high[k], v)
		}
	}
	side = max(high[0]-low[0], high[1]-low[1])
	if !(side > 0) {
		side = 1
	}
	at = make([]spot, images)
	for i := range at {
		at[i] = nowhere
	}
	for i, p := range points {
		at[rows[i]] = spot{float32(0.5 + (p.X-(low[0]+high[0])/2)/side), float32(0.5 - (p.Y-(low[1]+high[1])/2)/side)}
	}
	return at, side
}

// getPlaces sends the places and what colours them, all in little endian: the number n of images; n places x, n places
// y as float32, NaN where there is none; n numbers of classes as int32, -1 without a label; then a byte of each image:
// n splits, n sets of kinds, n actions, n scores from 0 to 254, 255 without one.
func (r *Reviewer) getPlaces(w http.ResponseWriter, _ *http.Request) {
	r.plane.mutex.Lock()
	at := r.plane.at
	r.plane.mutex.Unlock()
	if at == nil {
		answerError(w, reply.Refuse(http.StatusNotFound, "the map has no places yet"))
		return
	}
	r.mutex.RLock()
	t, d := r.table, r.decided
	n := len(t.all)
	out := make([]byte, 0, 4+16*n)
	out = binary.LittleEndian.AppendUint32(out, uint32(n))
	for id := range t.all {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(at[t.all[id].image].x))
	}
	for id := range t.all {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(at[t.all[id].image].y))
	}
	for _, class := range t.given {
		out = binary.LittleEndian.AppendUint32(out, uint32(class))
	}
	out = append(out, t.split...)
	for _, k := range t.kinds {
		out = append(out, byte(k))
	}
	for id := range t.all {
		out = append(out, d.action[t.all[id].image])
	}
	low, high := t.findScoreRange()
	for id := range t.all {
		level := byte(math.MaxUint8)
		if s := t.all[id].score; s == s && high > low {
			level = byte(math.Round((math.MaxUint8 - 1) * (s - low) / (high - low)))
		}
		out = append(out, level)
	}
	r.mutex.RUnlock()
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(out) // the client may be gone
}

// findScoreRange returns the range of the scores, at least from 0 to 1.
func (t *table) findScoreRange() (low, high float64) {
	high = 1
	for i := range t.list {
		if s := t.list[i].score; !math.IsInf(s, 0) {
			low, high = min(low, s), max(high, s)
		}
	}
	return low, high
}

// End stops what is computed in the background and waits for its end.
func (r *Reviewer) End() {
	r.end()
	r.plane.worker.Wait()
}
