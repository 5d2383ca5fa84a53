package losses

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"winnow/features"
)

func checkPermutation(s subject) error {
	for _, in := range s.inputs(6, 120) {
		want, wantGrad := public(s.build(), in)
		order := rand.New(rand.NewPCG(13, 5)).Perm(len(in.z))
		if firstOfClass[s.entry.Name] {
			keepClassOrder(order, in.labels)
		}
		mixed := in
		mixed.z, mixed.labels, mixed.ids = nil, nil, nil
		var expected [][]float64
		for _, i := range order {
			mixed.z = append(mixed.z, in.z[i])
			mixed.labels = append(mixed.labels, in.labels[i])
			mixed.ids = append(mixed.ids, in.ids[i])
			expected = append(expected, wantGrad[i])
		}
		got, grad := public(s.build(), mixed)
		if !near(got, want, 1e-5, 1e-6) {
			return fmt.Errorf("value %v, but %v for permuted rows", want, got)
		}
		if rel, _ := worst(grad, expected); rel > 1e-4 {
			return fmt.Errorf("the gradient of permuted rows differs by %.3g of its largest entry", rel)
		}
	}
	return nil
}

// firstOfClass lists the losses that use the first rows of a class: a permutation must keep the order within classes.
var firstOfClass = map[string]bool{"n_pair": true}

// keepClassOrder swaps rows within each class so that the rows of a class are in rising order.
func keepClassOrder(order, labels []int) {
	next := map[int]int{}
	for to, from := range order {
		y := labels[from]
		for labels[next[y]] != y {
			next[y]++
		}
		order[to] = next[y]
		next[y]++
	}
}

// ofCoordinates lists the losses that are invariant only under rotations that preserve the direction (1, …, 1).
var ofCoordinates = map[string]bool{"snr_contrastive": true}

// checkRotation checks that new class numbers and one orthogonal map (two reflections) of all vectors change nothing.
func checkRotation(s subject) error {
	rng := rand.New(rand.NewPCG(17, 5))
	names := make([]int, conformClasses)
	for c := range names {
		names[c] = (c + 4) % conformClasses // every class gets another name
		if s.entry.Name == "adapted_triplet" && s.given["printed"] == true {
			names[c] = c // Eq. 19 of 003 as printed treats the first class differently
		}
	}
	mirrors := [][]float64{gauss(rng, conformDim), gauss(rng, conformDim)}
	if ofCoordinates[s.entry.Name] {
		mirrors[0], mirrors[1] = centred64(mirrors[0]), centred64(mirrors[1])
	}
	a, _ := unit64(mirrors)
	turn := func(rows [][]float64) [][]float64 {
		out := make([][]float64, len(rows))
		for i, row := range rows {
			out[i] = slices.Clone(row)
			for _, u := range a {
				along := dot64(out[i], u)
				for k := range u {
					out[i][k] -= 2 * along * u[k]
				}
			}
		}
		return out
	}
	rename := func(labels []int) []int {
		out := make([]int, len(labels))
		for i, y := range labels {
			if out[i] = y; y >= 0 {
				out[i] = names[y]
			}
		}
		return out
	}
	for _, in := range s.inputs(7, 120) {
		l, turned := s.build(), s.build()
		want, wantGrad := public(l, in)
		other := in
		other.z, other.labels = turn(in.z), rename(in.labels)
		if in.ref != nil {
			other.ref, other.refIDs = turn(in.ref), rename(in.refIDs)
		}
		if owner, ok := turned.(Trainable); ok {
			for _, p := range owner.Params() {
				turnParam(p, names, turn)
			}
		}
		got, grad := public(turned, other)
		if !near(got, want, 1e-5, 1e-5) {
			return fmt.Errorf("value %v, but %v after rotation and renaming", want, got)
		}
		if rel, _ := worst(grad, turn(wantGrad)); rel > 1e-3 {
			return fmt.Errorf("the gradient of rotated rows differs by %.3g of its largest entry", rel)
		}
	}
	return nil
}

// turnParam renames and rotates a parameter like the batch. The parameter has the same number of rows for each class.
// Its rows are rotated if they have the same dimension as the batch's rows.
func turnParam(p *features.Param, names []int, turn func([][]float64) [][]float64) {
	perClass := p.Rows / len(names)
	rows := widen64(p.Data, p.Cols)
	if p.Cols == conformDim {
		rows = turn(rows)
	}
	for j, row := range rows[:perClass*len(names)] {
		to := names[j/perClass]*perClass + j%perClass
		copy(p.Data[to*p.Cols:(to+1)*p.Cols], matrix32([][]float64{row}).X.Data)
	}
}

// checkSameImage checks that rows of one image (equal IDs) form no pair in a batch that is compared with itself.
func checkSameImage(s subject) error {
	if !s.takesBank() {
		return nil
	}
	in := conformInput(14, 3)
	in.labels, in.ids = []int{2, 2, 2}, []int{5, 5, 5}
	loss, grad := public(s.build(), in)
	if rel, abs := worst(grad, zeros64(3, conformDim)); loss != 0 || abs != 0 {
		return fmt.Errorf("three views of one image: value %v, gradient %v, expected zeros", loss, rel)
	}
	in.ids = []int{5, 6, 7}
	with, _ := public(s.build(), in)
	in.ids = nil
	if without, _ := public(s.build(), in); with != without {
		return fmt.Errorf("distinct ids change the value from %v to %v", without, with)
	}
	return nil
}

// checkRepetition checks that scratch memory of other sizes has no effect, and that equal seeds give equal bits.
func checkRepetition(s subject) error {
	for _, in := range s.inputs(15, 100) {
		z, ref := in.sets()
		want, wantParams := evalFilled(s.build(), z, ref, 0, z.Dim())
		l := s.build()
		for _, n := range []int{130, 3, 100} {
			other := s.inputs(16, n)[0]
			o, oref := other.sets()
			evalFilled(l, o, oref, 0, o.Dim())
		}
		got, gotParams := evalFilled(l, z, ref, 0, z.Dim())
		if !slices.Equal(got, want) || !slices.Equal(gotParams, wantParams) {
			return fmt.Errorf("the gradient depends on earlier batches")
		}
	}
	return nil
}
