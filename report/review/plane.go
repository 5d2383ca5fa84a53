package review

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/eval/tsne"
	"winnow/report/page"
	"winnow/search"
)

// Vectors is implemented by a [Finder] that provides the vectors of images, which the map and the learning need. Rows
// returns a row for each path, and the number of images without a vector, whose rows are 0.
type Vectors interface {
	Rows(paths []string) (x blas32.General, absent int, err error)
}

// Methods to map the images' vectors to the plane.
const (
	byComponents = "pca"  // the first two principal components, the default
	byLikeness   = "tsne" // t-SNE
)

// plane is the map: a position for each image that has a vector. It is kept in memory.
type plane struct {
	mutex  sync.Mutex
	state  planeState
	at     []spot // positions by id
	steps  int    // iterations of t-SNE
	worker sync.WaitGroup
}

// spot is a position in the unit square, with y downwards; NaN if the image has no position.
type spot struct{ x, y float32 }

// fewestPoints is the minimum number of images on a map, and planeSteps the number of iterations of t-SNE.
const (
	fewestPoints = 5
	planeSteps   = 1000
)

// planeState is the state of the map as JSON.
type planeState struct {
	Method string     `json:"method"` // "": positions are not computed yet
	Points int        `json:"points"`
	Share  [2]float64 `json:"share"` // share of the variance of each principal component
	Works  string     `json:"works"` // the method being computed; "": none
	Done   int        `json:"done"`
	Steps  int        `json:"steps"`
	Failed string     `json:"failed"` // error of the last computation
	Light  []string   `json:"light"`  // colours of the classes, in order, on a light background
	Dark   []string   `json:"dark"`
}

func (r *Reviewer) planeState() planeState {
	p := &r.plane
	p.mutex.Lock()
	defer p.mutex.Unlock()
	s := p.state
	s.Steps = p.steps
	s.Light, s.Dark = page.Colours(len(r.Manifest.Classes))
	return s
}

func (p *plane) getSpots() []spot {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.at
}

// getPlane returns the state of the map. The first call starts the computation of principal components.
func (r *Reviewer) getPlane(_ *http.Request, values url.Values) (any, error) {
	p := &parameters{values: values}
	if err := p.getFirstFailure(); err != nil {
		return nil, err
	}
	if err := r.arrangePlaces(""); err != nil {
		return nil, err
	}
	return r.planeState(), nil
}

// postPlane starts to compute positions with the method in the request.
func (r *Reviewer) postPlane(body struct {
	Method string `json:"method"`
}) (int, any, error) {
	if body.Method != byComponents && body.Method != byLikeness {
		return 0, nil, refuseWith(http.StatusBadRequest, "method: found %.40q, expected %s or %s", body.Method,
			byComponents, byLikeness)
	}
	if err := r.arrangePlaces(body.Method); err != nil {
		return 0, nil, err
	}
	return http.StatusOK, r.planeState(), nil
}

// arrangePlaces starts to compute positions in the background, unless a computation is running. The method "" means
// principal components, computed only if there is neither a result nor a failure yet.
func (r *Reviewer) arrangePlaces(method string) error {
	v, ok := r.Finder.(Vectors)
	if !ok {
		return refuseWith(http.StatusNotFound,
			"the server has no vectors of the images: start it with features or a run")
	}
	p := &r.plane
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.state.Works != "" || method == "" && (p.state.Method != "" || p.state.Failed != "") {
		return nil
	}
	if method == "" {
		method = byComponents
	}
	p.state.Works, p.state.Done, p.state.Failed = method, 0, ""
	p.worker.Go(func() {
		at, points, share, err := r.computePlaces(v, method)
		p.mutex.Lock()
		defer p.mutex.Unlock()
		if p.state.Works = ""; err != nil {
			p.state.Failed = err.Error()
			return
		}
		p.at, p.state.Method, p.state.Points, p.state.Share = at, method, points, share
	})
	return nil
}

// computePlaces computes the positions of the images that have a vector.
func (r *Reviewer) computePlaces(v Vectors, method string) (at []spot, points int, share [2]float64, err error) {
	x, ids, err := r.readUnitVectors(v)
	if err != nil {
		return nil, 0, share, err
	}
	if len(ids) < fewestPoints {
		return nil, 0, share, fmt.Errorf("only %d of the %d images have a vector in the features; a map needs %d",
			len(ids), len(r.table.images), fewestPoints)
	}
	var list []tsne.Point
	if method == byComponents {
		var c tsne.Components
		c, err = tsne.PCA(x)
		list, share = c.Points, c.Share
	} else {
		list, _, err = tsne.Embed(r.ending, x, tsne.Options{Iterations: r.plane.steps, Seed: 1,
			Stepped: func(iteration int) {
				r.plane.mutex.Lock()
				r.plane.state.Done = iteration
				r.plane.mutex.Unlock()
			}})
	}
	if err != nil {
		return nil, 0, share, err
	}
	return fitUnitSquare(len(r.table.images), ids, list), len(ids), share, nil
}

// readUnitVectors waits for the finder and returns the vectors of all images, scaled to length 1, and the images' ids.
func (r *Reviewer) readUnitVectors(v Vectors) (x blas32.General, ids []int, err error) {
	if err := r.takeTurn(r.ending); err != nil {
		return x, nil, err
	}
	defer func() { <-r.turn }()
	if x, _, err = v.Rows(r.Manifest.Paths()); err != nil {
		return x, nil, err
	}
	for i := range x.Rows {
		row := x.Data[i*x.Stride : i*x.Stride+x.Cols]
		if blas32.Nrm2(blas32.Vector{N: x.Cols, Inc: 1, Data: row}) > 0 {
			copy(x.Data[len(ids)*x.Stride:], row)
			ids = append(ids, r.table.place[i])
		}
	}
	x.Rows = len(ids)
	search.UnitRows(x)
	return x, ids, nil
}

// fitUnitSquare scales points to the unit square, with the same scale on both axes.
func fitUnitSquare(images int, ids []int, points []tsne.Point) []spot {
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, p := range points {
		for k, v := range [2]float64{p.X, p.Y} {
			low[k], high[k] = min(low[k], v), max(high[k], v)
		}
	}
	side := max(high[0]-low[0], high[1]-low[1])
	if !(side > 0) {
		side = 1
	}
	at := slices.Repeat([]spot{{float32(math.NaN()), float32(math.NaN())}}, images)
	for i, p := range points {
		at[ids[i]] = spot{float32(0.5 + (p.X-(low[0]+high[0])/2)/side), float32(0.5 - (p.Y-(low[1]+high[1])/2)/side)}
	}
	return at
}

// getPlaces sends positions and attributes of all images in little endian: the number n of images as uint32; n
// x-coordinates and n y-coordinates as float32, NaN without a vector; n class numbers as int32, -1 without a label; and
// as single bytes n splits, n bit sets of kinds, and n actions.
func (r *Reviewer) getPlaces(w http.ResponseWriter, _ *http.Request) {
	at := r.plane.getSpots()
	if at == nil {
		answerError(w, refuseWith(http.StatusNotFound, "the map is not computed yet"))
		return
	}
	r.mutex.RLock()
	t := r.table
	number, splits := map[string]int{"": none}, map[string]int{}
	for i, name := range t.classes {
		number[name] = i
	}
	for i, s := range t.splits {
		splits[s.Name] = i
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(t.images)))
	for _, s := range at {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(s.x))
	}
	for _, s := range at {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(s.y))
	}
	for id := range t.images {
		out = binary.LittleEndian.AppendUint32(out, uint32(int32(number[t.images[id].Given])))
	}
	for id := range t.images {
		out = append(out, byte(splits[t.images[id].split]))
	}
	for id := range t.images {
		kinds := byte(0)
		for bit, name := range kindNames {
			if t.images[id].isOfKind(name) {
				kinds |= 1 << bit
			}
		}
		out = append(out, kinds)
	}
	for id := range t.images {
		out = append(out, byte(slices.Index(actionNames, r.decided.outcome[id].Action)))
	}
	r.mutex.RUnlock()
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(out) // the client may be gone
}

// End cancels the background computations and waits until they and the last search have ended.
func (r *Reviewer) End() {
	r.end()
	r.turn <- struct{}{} // never released: no further search starts
	r.plane.worker.Wait()
	if r.learning != nil {
		r.learning.worker.Wait()
	}
}
