package filters

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/features"
)

// world holds the inputs of a scorer: a batch, the members of the bank, and the proxies of a loss.
type world struct {
	z, members features.Set
	classes    int
	proxies    *features.Param
	perClass   int
	shift      float64 // length of class directions relative to the noise
}

// newWorld draws class directions and vectors around them; a share wrong of the vectors gets another label. The second
// result holds for each row of z whether its label is right.
func newWorld(r *rand.Rand, dim, classes, batch, members int, shift, wrong float64) (world, []bool) {
	w := world{classes: classes, perClass: 2, shift: shift}
	w.proxies = features.NewParam("proxies", classes*w.perClass, dim)
	for i := range w.proxies.Data {
		w.proxies.Data[i] = float32(r.NormFloat64())
	}
	for k := range classes { // two proxies near each class direction, not normalised
		a, b := w.direction(k), features.Row(w.proxies.Matrix(), k*w.perClass+1)
		for j := range a {
			b[j] = 3 * (a[j] + 0.3*float32(r.NormFloat64()))
		}
	}
	w.members, _ = w.draw(r, members, wrong)
	var right []bool
	w.z, right = w.draw(r, batch, wrong)
	return w, right
}

func (w world) direction(k int) []float32 { return features.Row(w.proxies.Matrix(), k*w.perClass) }

// draw returns n rows with classes in turn; a share wrong of them gets another label.
func (w world) draw(r *rand.Rand, n int, wrong float64) (features.Set, []bool) {
	z, right := features.NewSet(n, w.proxies.Cols), make([]bool, n)
	for i := range n {
		shown := i / 2 % w.classes
		z.Labels[i], z.IDs[i], right[i] = shown, i, true
		if w.classes > 1 && r.Float64() < wrong {
			z.Labels[i], right[i] = (shown+1+r.IntN(w.classes-1))%w.classes, false
		}
		for j, c := range w.direction(shown) {
			z.Row(i)[j] = float32(w.shift)*c + float32(r.NormFloat64())
		}
	}
	if n > 0 {
		if err := features.Normalize(z.X); err != nil {
			panic(err)
		}
	}
	return z, right
}

func (w world) bank() *features.Bank {
	b := features.NewBank(max(1, w.members.Len()), w.z.Dim(), w.classes)
	b.Push(w.members)
	return b
}

func (w world) env() Env {
	return Env{Dim: w.z.Dim(), Classes: w.classes, Proxies: w.proxies, PerClass: w.perClass}
}

// build builds a scorer of the catalog with the given options.
func (w world) build(t *testing.T, name string, options func(*Config)) Scorer {
	t.Helper()
	c := Default()
	c.Scorer = name
	if options != nil {
		options(&c)
	}
	f, err := New(c, w.env())
	if err != nil {
		t.Fatal(err)
	}
	return f.Scorer()
}

// everyEntry holds the catalog and AvgSimDirect, which must have all properties of AvgSim.
var everyEntry = append(slices.Clone(Catalog), unlisted("avgsim_direct"))

// unlisted returns an entry that Find resolves although the catalog does not list it.
func unlisted(name string) Entry {
	e, err := Find(name)
	if err != nil {
		panic(err)
	}
	return e
}

// renamed returns the world with other class ids, in labels and proxies.
func (w world) renamed(r *rand.Rand) world {
	to := r.Perm(w.classes)
	out := w
	out.z, out.members = relabelled(w.z, to), relabelled(w.members, to)
	out.proxies = features.NewParam("proxies", w.proxies.Rows, w.proxies.Cols)
	size := w.perClass * w.proxies.Cols
	for k := range w.classes {
		copy(out.proxies.Data[to[k]*size:(to[k]+1)*size], w.proxies.Data[k*size:(k+1)*size])
	}
	return out
}

func relabelled(z features.Set, to []int) features.Set {
	z.Labels = slices.Clone(z.Labels)
	for i, k := range z.Labels {
		z.Labels[i] = to[k]
	}
	return z
}

// rotated returns the world with every vector reflected in three random planes.
func (w world) rotated(r *rand.Rand) world {
	out := w
	out.z, out.members = w.z.Rows(features.AllRows(w.z.Len())), w.members.Rows(features.AllRows(w.members.Len()))
	out.proxies = features.NewParam("proxies", w.proxies.Rows, w.proxies.Cols)
	copy(out.proxies.Data, w.proxies.Data)
	for range 3 {
		u := make([]float64, w.z.Dim())
		var norm float64
		for j := range u {
			u[j] = r.NormFloat64()
			norm += u[j] * u[j]
		}
		for _, data := range [][]float32{out.z.X.Data, out.members.X.Data, out.proxies.Data} {
			for row := range slices.Chunk(data, len(u)) {
				var d float64
				for j, x := range row {
					d += u[j] * float64(x)
				}
				for j := range row {
					row[j] -= float32(2 * d / norm * u[j])
				}
			}
		}
	}
	return out
}

// without returns a world whose bank never contained member i, with that member as the batch.
func (w world) without(i int) world {
	rest := slices.Delete(features.AllRows(w.members.Len()), i, i+1)
	out := w
	out.z, out.members = w.members.Rows([]int{i}), w.members.Rows(rest)
	return out
}

// auroc returns the share of (right, wrong) pairs in which the right label has the higher score; ties count half.
func auroc(scores []float64, right []bool) float64 {
	var wins, pairs float64
	for i := range scores {
		for j := range scores {
			if right[i] && !right[j] {
				pairs++
				switch {
				case scores[i] > scores[j]:
					wins++
				case scores[i] == scores[j]:
					wins += 0.5
				}
			}
		}
	}
	if pairs == 0 {
		return math.NaN()
	}
	return wins / pairs
}
