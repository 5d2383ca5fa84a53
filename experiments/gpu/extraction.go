package main

import (
	"fmt"

	"winnow/backbone/ort"
	"winnow/features"
)

// The ways to copy images to the network.
const (
	fromHost  = "host"
	byExtract = "host, pinned, as extract" // as winnow extract does, with two lanes on a GPU
)

// extraction measures images per second in both ways: for the first network with all batch sizes, for others with one.
func extraction(b *bench) error {
	if err := b.open(); err != nil {
		return err
	}
	list, err := b.networks()
	if err != nil {
		return err
	}
	for at, n := range list {
		for _, p := range b.precisions() {
			batches := b.batches
			if at > 0 {
				batches = b.batches[:1]
			}
			if err := b.rates(n, p, batches); err != nil {
				return err
			}
		}
	}
	return nil
}

// rates measures a network in one precision. It keeps sessions between batches, as an extraction does.
func (b *bench) rates(n *network, p precision, batches []int) error {
	var plain *ort.Session
	var lanes ort.Networks
	defer func() {
		_ = lanes.Close()
		if plain != nil {
			_ = plain.Close()
		}
	}()
	rt, model, failed := b.of(p, n)
	for _, batch := range batches {
		for _, way := range []string{byExtract, fromHost} {
			err := b.measure(func() (Record, error) {
				if failed != nil {
					return Record{}, failed
				}
				x := ort.Float32s(b.pictures(n, batch), int64(batch), int64(n.channels), int64(n.side), int64(n.side))
				if way == fromHost {
					var err error
					if plain == nil {
						if plain, err = rt.NewSession(model,
							ort.SessionOptions{Outputs: []string{n.output}}); err != nil {
							return Record{}, err
						}
					}
					y := ort.Float32s(make([]float32, batch*n.dim), n.shape(plain.Outputs()[0], batch)...)
					took, err := b.seconds(func() error { return plain.Run([]ort.Tensor{x}, []ort.Tensor{y}) })
					return rate(batch, took), err
				}
				warm := 0
				if lanes == nil {
					var err error
					warm = loading
					if lanes, err = b.lanes(rt, model, n); err != nil {
						return Record{}, err
					}
				}
				took, err := b.inLanes(lanes, n, x.F32, batch, warm)
				return rate(batch, took), err
			}, n.name, p.name, way, fmt.Sprint("batch ", batch))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// lanes loads a network as winnow extract does.
func (b *bench) lanes(rt *ort.Runtime, model []byte, n *network) (ort.Networks, error) {
	in := ort.NetworkInput{Channels: n.channels, Height: n.side, Width: n.side}
	return ort.NewNetworks(rt, model, n.output, in)
}

// loading is the number of measurements during which the second lane may still be loading its session.
const loading = 4

// inLanes returns the time per batch if the lanes process batches alternately, from and to pinned memory. It first
// makes warm measurements that it ignores.
func (b *bench) inLanes(lanes ort.Networks, n *network, pixels []float32, batch, warm int) (float64, error) {
	var runs []func() error
	lanes.Pin(pixels)
	defer lanes.Unpin()
	for _, lane := range lanes.Lanes() {
		y := features.NewMatrix(batch, n.dim)
		lanes.Pin(y.Data)
		runs = append(runs, func() error { return lane.Infer(y, pixels, batch) })
	}
	for range warm {
		if _, err := b.together(runs); err != nil {
			return 0, err
		}
	}
	return b.together(runs)
}

// shape returns the shape of the output for a batch of images.
func (n *network) shape(out ort.Info, batch int) []int64 {
	shape := []int64{int64(batch), int64(n.dim)}
	for len(shape) < len(out.Shape) {
		shape = append(shape, 1)
	}
	return shape
}

func rate(batch int, took float64) Record {
	if took == 0 {
		return Record{}
	}
	return Record{Values: map[string]float64{"batch": float64(batch), "images_per_second": float64(batch) / took,
		"milliseconds": 1e3 * took}}
}
