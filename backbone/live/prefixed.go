package live

import (
	"context"
	"fmt"

	"winnow/backbone"
	"winnow/features"
)

// Prefixed implements Inputs by running the frozen part of the network on each batch. Use it for augmented views,
// which never repeat, and for training sets whose activations do not fit into memory.
type Prefixed struct {
	prefix backbone.Prefix
	images Inputs
	chunk  int
	out    [][]float32 // of the last Load
}

// NewPrefixed returns inputs that run images through a prefix, chunk images at a time (0: a whole batch).
func NewPrefixed(prefix backbone.Prefix, images Inputs, chunk int) (*Prefixed, error) {
	if err := checkInputSizes(images.Sizes(), prefix.Inputs()); err != nil {
		return nil, err
	}
	return &Prefixed{prefix: prefix, images: images, chunk: chunk}, nil
}

// Sizes returns the sizes of the prefix's outputs.
func (p *Prefixed) Sizes() []int { return p.prefix.Outputs() }

// Prepare prepares the images of the next step.
func (p *Prefixed) Prepare(rows []int) { p.images.Prepare(rows) }

// Load computes the activations of rows.
func (p *Prefixed) Load(rows []int) ([][]float32, error) {
	images, err := p.images.Load(rows)
	if err != nil {
		return nil, err
	}
	n, sizes := len(rows), p.prefix.Outputs()
	p.out = growInputs(p.out, sizes, n)
	step := p.chunk
	if step < 1 {
		step = n
	}
	for at := 0; at < n; at += step {
		count := min(step, n-at)
		in := sliceInputs(images, p.prefix.Inputs(), at, count)
		if err := p.prefix.Infer(sliceInputs(p.out, sizes, at, count), in, count); err != nil {
			return nil, err
		}
	}
	return p.out, nil
}

// growInputs returns memory for n images of each input. It reuses the memory of list if that is large enough.
func growInputs(list [][]float32, sizes []int, n int) [][]float32 {
	if list == nil {
		list = make([][]float32, len(sizes))
	}
	for i, size := range sizes {
		list[i] = features.Grow(list[i], n*size)
	}
	return list
}

// sliceInputs returns n images of each input, starting at index from.
func sliceInputs(list [][]float32, sizes []int, from, n int) [][]float32 {
	some := make([][]float32, len(list))
	for i, size := range sizes {
		some[i] = list[i][from*size : (from+n)*size]
	}
	return some
}

// TooLarge is the error for activations that exceed their memory limit. The caller may raise the limit, or run the
// frozen part on each batch ([Prefixed]).
type TooLarge struct {
	Rows        int
	Need, Limit int64 // bytes
}

func (e *TooLarge) Error() string {
	return fmt.Sprintf("live: cache: the frozen part's activations of %d images take %d bytes, expected at most %d",
		e.Rows, e.Need, e.Limit)
}

// Cached implements Inputs with activations that the frozen part computed once for all rows. It is correct only if the
// images are the same at every step, that is, without augmentation.
type Cached struct {
	sizes []int
	data  [][]float32 // rows × size of each input
	rows  int
	out   [][]float32 // of the last Load
}

// NewCached computes the activations of rows 0 … rows-1, batch images at a time, and keeps them. If they take more
// than limit bytes, it returns a [TooLarge] error before it computes. progress is called with the number of rows done;
// it may be nil.
func NewCached(ctx context.Context, from *Prefixed, rows, batch int, limit int64,
	progress func(done, total int)) (*Cached, error) {
	c := &Cached{sizes: from.Sizes(), rows: rows}
	if rows < 1 || batch < 1 {
		return nil, fmt.Errorf("live: cache: found %d rows in batches of %d, expected at least 1 of both", rows, batch)
	}
	var each int64
	for _, size := range c.sizes {
		each += 4 * int64(size)
	}
	if need := each * int64(rows); need > limit {
		return nil, &TooLarge{Rows: rows, Need: need, Limit: limit}
	}
	for _, size := range c.sizes {
		c.data = append(c.data, make([]float32, rows*size))
	}
	list := make([]int, 0, batch)
	for at := 0; at < rows; at += batch {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		count := min(batch, rows-at)
		list = list[:0]
		for i := range count {
			list = append(list, at+i)
		}
		found, err := from.Load(list)
		if err != nil {
			return nil, err
		}
		for i, to := range sliceInputs(c.data, c.sizes, at, count) {
			copy(to, found[i])
		}
		if progress != nil {
			progress(at+count, rows)
		}
	}
	return c, nil
}

// Sizes returns the sizes of the prefix's outputs.
func (c *Cached) Sizes() []int { return c.sizes }

// Bytes returns the memory that the activations take.
func (c *Cached) Bytes() int64 {
	var sum int64
	for _, d := range c.data {
		sum += 4 * int64(len(d))
	}
	return sum
}

// Prepare does nothing: Load only copies.
func (c *Cached) Prepare([]int) {}

// Load copies the activations of rows.
func (c *Cached) Load(rows []int) ([][]float32, error) {
	c.out = growInputs(c.out, c.sizes, len(rows))
	for to, from := range rows {
		if from < 0 || from >= c.rows {
			return nil, fmt.Errorf("live: cache: found row %d, expected 0 to %d", from, c.rows-1)
		}
		for i, size := range c.sizes {
			copy(c.out[i][to*size:(to+1)*size], c.data[i][from*size:(from+1)*size])
		}
	}
	return c.out, nil
}
