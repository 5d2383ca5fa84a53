package extraction

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/features"
)

// CheckImages is how many images a check compares at most, evenly over the list.
const CheckImages = 64

// agreeing is the least cosine of a vector to that of float32 on the CPU, for a check to say that they agree.
const agreeing = .9999

// Check compares the vectors of some of the images with those in float32 on the CPU, as `winnow extract --check --json`
// prints it.
type Check struct {
	Device  string      `json:"device"`
	Images  int         `json:"images"` // compared
	Bad     int         `json:"unreadable"`
	Lowest  float64     `json:"lowest_cosine"`
	Path    string      `json:"lowest_image"`
	Mean    float64     `json:"mean_cosine"`
	Least   float64     `json:"expected_cosine"` // of every image
	Agrees  bool        `json:"agrees"`          // Lowest ≥ Least
	Changed []Neighbour `json:"changed_neighbours"`
}

// Neighbour is an image whose nearest image among those compared is another.
type Neighbour struct {
	Path string `json:"image"`
	Was  string `json:"nearest_in_float32"`
	Is   string `json:"nearest"`
}

// Check computes the vectors of some images, in their centre crop, as the extraction would and in float32 on the CPU.
// It stores nothing.
func (e *Extraction) Check(ctx context.Context, h Host) (Check, error) {
	rt, net, err := e.loadNetwork(h.Complete())
	if err != nil {
		return Check{}, err
	}
	defer net.Close()
	if !rt.Device().CUDA {
		return Check{}, errors.New("extract: nothing to check: those of a GPU are compared with vectors of the cpu")
	}
	n := min(len(e.Paths), CheckImages)
	sample := make([]string, n)
	for i := range sample {
		sample[i] = e.Paths[i*len(e.Paths)/n]
	}
	cfg := e.Config
	cfg.Views = nil
	found, err := e.computeVectors(ctx, cfg, net, sample)
	if err != nil {
		return Check{}, err
	}
	cpu, err := ort.Load(ort.Config{Library: rt.Library(), Threads: rt.Threads()})
	if err != nil {
		return Check{}, err
	}
	exact, err := ort.NewNetwork(cpu, e.Cut.Model, e.Cut.Tensor, NetworkInput(e.Cut, e.Config.Preprocessing))
	if err != nil {
		return Check{}, RefusedByRuntime(e.Model, err)
	}
	defer exact.Close()
	want, err := e.computeVectors(ctx, cfg, exact, sample)
	if err != nil {
		return Check{}, err
	}
	c := compareVectors(sample, want, found)
	c.Device = rt.Where()
	return c, nil
}

// computeVectors computes the vectors of images in memory.
func (e *Extraction) computeVectors(ctx context.Context, cfg backbone.ExtractConfig, net backbone.Network,
	paths []string) (*held, error) {
	w := &held{dim: net.Dim(), without: map[int]bool{}}
	return w, backbone.Extract(ctx, cfg, net, e.Root, paths, w, nil)
}

// held keeps vectors of unit length in memory. It implements backbone.RowWriter.
type held struct {
	unkept
	dim     int
	x       []float64
	without map[int]bool // rows without a vector
}

func (v *held) Append(x blas32.General, bad []features.Bad) error {
	for _, b := range bad {
		v.without[b.Row] = true
	}
	for i := range x.Rows {
		row := features.Row(x, i)
		var sum float64
		for _, f := range row {
			sum += float64(f) * float64(f)
		}
		length := math.Sqrt(sum)
		if length == 0 {
			length = 1
		}
		for _, f := range row {
			v.x = append(v.x, float64(f)/length)
		}
	}
	return v.unkept.Append(x, bad)
}

func (v *held) getHeldRow(i int) []float64 { return v.x[i*v.dim : (i+1)*v.dim] }

func multiplyVectors(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// findNearestOther returns the row of the most similar other image, or -1.
func (v *held) findNearestOther(i int) int {
	best, at := math.Inf(-1), -1
	for k := range v.rows {
		if k != i && !v.without[k] {
			if s := multiplyVectors(v.getHeldRow(i), v.getHeldRow(k)); s > best {
				best, at = s, k
			}
		}
	}
	return at
}

// compareVectors compares vectors with those of float32.
func compareVectors(paths []string, want, found *held) Check {
	c := Check{Lowest: 1, Least: agreeing, Bad: len(want.bad), Changed: []Neighbour{}}
	var sum float64
	for i, path := range paths {
		if want.without[i] || found.without[i] {
			continue
		}
		cos := min(multiplyVectors(want.getHeldRow(i), found.getHeldRow(i)), 1)
		if multiplyVectors(want.getHeldRow(i), want.getHeldRow(i)) == 0 &&
			multiplyVectors(found.getHeldRow(i), found.getHeldRow(i)) == 0 {
			cos = 1 // all zeros in both
		}
		if cos < c.Lowest || c.Path == "" {
			c.Lowest, c.Path = cos, path
		}
		sum += cos
		c.Images++
		if was, is := want.findNearestOther(i), found.findNearestOther(i); was != is {
			c.Changed = append(c.Changed, Neighbour{path, paths[was], paths[is]})
		}
	}
	if c.Images > 0 {
		c.Mean = sum / float64(c.Images)
	}
	c.Agrees = c.Images > 0 && c.Lowest >= c.Least
	return c
}

// Write writes the outcome for people.
func (c Check) Write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d images on %s, compared with the cpu:\n"+
		"cosine %.7f at the lowest (%s), %.7f in the mean\n", c.Images, c.Device, c.Lowest, c.Path, c.Mean)
	if err != nil {
		return err
	}
	switch n := len(c.Changed); n {
	case 0:
		_, err = fmt.Fprintln(w, "the nearest neighbour of each among them is the same")
	default:
		first := c.Changed[0]
		_, err = fmt.Fprintf(w, "the nearest neighbours of %d among them change, the first that of %s, from %s to %s\n",
			n, first.Path, first.Was, first.Is)
	}
	if err != nil {
		return err
	}
	verdict := "they agree: every cosine is at least %.4f\n"
	if !c.Agrees {
		verdict = "they do not agree: expected cosines of at least %.4f\n"
	}
	_, err = fmt.Fprintf(w, verdict, c.Least)
	return err
}
