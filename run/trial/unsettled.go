package trial

import (
	"cmp"
	"slices"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/models"
)

// findUnsettled finds the first node of a network whose output for an image differs from run to run, or with the other
// images of the batch. It runs three batches: all tensors of an image that both have must be equal. It returns none if
// the network cannot be run so.
func findUnsettled(rt *ort.Runtime, m *graph.Model, pre backbone.Preprocessing, p *models.Prepared,
	limit float64) []*graph.Node {
	m = graph.Sized(m, p.Input, pre.Planes(), pre.High(), pre.Crop)
	b, facts, batch := graph.Extend(m), graph.Infer(m), m.Graph.DataInputs()[0].Shape[0]
	foreign := func(d graph.Dim) bool { return !d.Known() && d != batch }
	var tensors []string
	var makers []*graph.Node
	for _, n := range m.Graph.Nodes {
		for _, out := range n.Outputs {
			if v := facts[out]; v != nil && v.Type == graph.Float32 && v.Shape != nil &&
				!slices.ContainsFunc(v.Shape, foreign) {
				tensors, makers = append(tensors, out), append(makers, n)
			}
		}
	}
	b.SetOutputs(tensors...)
	s, err := rt.NewSession(b.Model().Marshal(), ort.SessionOptions{Folder: p.Folder})
	if err != nil {
		return nil
	}
	defer s.Close()
	rows, size := cmp.Or(p.Batch, 3), pre.Size()
	pixels := drawNoisePictures(pre, 2*rows)
	run := func(keep int) []ort.Tensor { // other images but one; the same for -1
		images := slices.Clone(pixels[:rows*size])
		if keep >= 0 {
			copy(images, pixels[rows*size:])
			copy(images[keep*size:], pixels[keep*size:(keep+1)*size])
		}
		in := ort.Float32s(images, int64(rows), int64(pre.Planes()), int64(pre.High()), int64(pre.Crop))
		out := make([]ort.Tensor, len(tensors))
		if s.Run([]ort.Tensor{in}, out) != nil {
			return nil
		}
		return out
	}
	whole, again, first, last := run(-1), run(-1), run(0), run(rows-1)
	if whole == nil || again == nil || first == nil || last == nil {
		return nil
	}
	for i, t := range whole {
		axis := slices.Index(facts[tensors[i]].Shape, batch)
		if compareRelatively(again[i].F32, t.F32) > limit ||
			compareRelatively(readSlab(first[i], axis, 0), readSlab(t, axis, 0)) > limit ||
			compareRelatively(readSlab(last[i], axis, rows-1), readSlab(t, axis, rows-1)) > limit {
			return makers[i : i+1]
		}
	}
	return nil
}

// readSlab returns the numbers of a tensor at one place of an axis; all of them without an axis.
func readSlab(t ort.Tensor, axis, at int) (list []float32) {
	if axis < 0 {
		return t.F32
	}
	inner := 1
	for _, d := range t.Shape[axis+1:] {
		inner *= int(d)
	}
	step := inner * int(t.Shape[axis])
	for from := at * inner; from+inner <= len(t.F32); from += step {
		list = append(list, t.F32[from:from+inner]...)
	}
	return list
}
