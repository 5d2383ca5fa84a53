package losses

import (
	"math"
	"slices"
	"testing"

	"winnow/features"
	"winnow/internal/testing/reference"
)

// exactAdapted computes the adapted triplet loss in float64: the triplets with exactPairs, and the means with the
// loss's own functions on float64 rows.
func exactAdapted(l *adaptedTriplet, in exactInput) (loss float64, grad [][]float64) {
	z, norms := in.z, []float64(nil)
	if in.normalize {
		z, norms = unit64(in.z)
	}
	l.splitLabelled(in.labels)
	part := exactInput{}
	for _, i := range l.rows {
		part.z, part.labels = append(part.z, z[i]), append(part.labels, in.labels[i])
		if in.ids != nil {
			part.ids = append(part.ids, in.ids[i])
		}
	}
	loss, partGrad := exactPairs(&l.triplets, part)
	grad = zeros64(len(z), len(z[0]))
	for k, i := range l.rows {
		copy(grad[i], partGrad[k])
	}
	rows, out := flatRows(z), flatRows(grad)
	loss += matchAll(l, rows, out, in.labels)
	for i := range grad {
		copy(grad[i], out.rowAt(i))
	}
	if in.normalize {
		through(grad, z, norms)
	}
	return loss, grad
}

func flatRows(rows [][]float64) rowsOf[float64] {
	return rowsOf[float64]{slices.Concat(rows...), len(rows[0]), len(rows[0])}
}

func flatRows32(s features.Set) rowsOf[float32] {
	return rowsOf[float32]{s.X.Data, s.X.Stride, s.X.Cols}
}

// goldenSelection returns the triplets of a case and the number of times each row occurs in them.
func goldenSelection(t *testing.T, c reference.Case, rows int) (triplets [3][]int, count []float64) {
	c.Decode(t, "indices", &triplets)
	count = make([]float64, rows)
	for _, role := range triplets {
		for _, i := range role {
			count[i]++
		}
	}
	return triplets, count
}

// hasIdle reports whether a listed triplet has zero loss. The loss never selects such a triplet, so that
// selected.count omits it, and the test must set the counts itself.
func hasIdle(l listed, in exactInput) bool {
	z := in.z
	if in.normalize {
		z, _ = unit64(in.z)
	}
	for i, a := range l.triplets[0] {
		s := cosines(z[a:a+1], [][]float64{z[l.triplets[1][i]], z[l.triplets[2][i]]}, true)
		if 2*s[1]-2*s[0]+l.margin <= 0 {
			return true
		}
	}
	return false
}

func goldenAdapted(t *testing.T, c reference.Case) {
	mapped(t, c, "lam", "margin", "reduction", "distance")
	if d := c.Params["distance"]; d != nil && d != "l2sq" {
		t.Fatalf("%s: distance %v: the loss is defined on squared distances", c.Name, d)
	}
	in := goldenInput(t, c)
	l := mustNew(t, "adapted_triplet", map[string]any{
		"lambda": c.Params["lam"], "margin": c.Params["margin"], "reduction": c.Params["reduction"],
	}, goldenEnv(t, c)).(*adaptedTriplet)
	triplets, count := goldenSelection(t, c, len(in.z))
	l.selected.simLoss = listed{triplet: l.selected.simLoss.(*triplet), triplets: triplets}
	l.triplets.whole, l.triplets.draw = true, nil
	if hasIdle(l.selected.simLoss.(listed), in) {
		l.triplets.fn, l.selected.count = l.selected.simLoss, count
	}
	want, wantGrad := c.Float(t, "loss"), c.Matrix(t, "grad")
	loss, grad := exactAdapted(l, in)
	compare(t, "float64", loss, want, grad, wantGrad, lossRel, gradRel)
	if !slices.Equal(l.selected.count, count) {
		t.Errorf("rows are selected %v times, expected %v", l.selected.count, count)
	}
	loss, grad = public(l, in)
	compare(t, "float32", loss, want, grad, wantGrad, loss32, grad32)
}

// goldenMatching groups the rows of a case by the case's selection.
func goldenMatching(t *testing.T, c reference.Case, in exactInput, m *matching) {
	_, count := goldenSelection(t, c, len(in.z))
	m.groupRows(features.AllRows(len(in.z)), in.labels, count, len(in.z[0]))
}

func goldenMatchOnly(t *testing.T, c reference.Case) {
	mapped(t, c)
	in := goldenInput(t, c)
	want, wantGrad := c.Float(t, "loss"), c.Matrix(t, "grad")
	var m matching
	goldenMatching(t, c, in, &m)
	z, norms := in.z, slices.Repeat([]float64{1}, len(in.z))
	if in.normalize {
		z, norms = unit64(in.z)
	}
	back := func(data []float64) [][]float64 {
		grad := rowsBy(data, len(z[0]))
		if in.normalize {
			through(grad, z, norms)
		}
		return grad
	}
	out := flatRows(zeros64(len(z), len(z[0])))
	loss := matchClasses(&m, flatRows(z), out, 1)
	compare(t, "float64", loss, want, back(out.data), wantGrad, lossRel, gradRel)
	out32 := flatRows32(matrix32(zeros64(len(z), len(z[0]))))
	loss = matchClasses(&m, flatRows32(matrix32(z)), out32, 1)
	compare(t, "float32", loss, want, back(wide(out32.data)), wantGrad, loss32, grad32)
}

func wide(data []float32) []float64 {
	out := make([]float64, len(data))
	for i, v := range data {
		out[i] = float64(v)
	}
	return out
}

func rowsBy(data []float64, cols int) (rows [][]float64) {
	for row := range slices.Chunk(slices.Clone(data), cols) {
		rows = append(rows, row)
	}
	return rows
}

func goldenSemiMatch(t *testing.T, c reference.Case) {
	mapped(t, c, "printed", "ridge")
	in := goldenInput(t, c)
	var m matching
	m.printed, _ = c.Params["printed"].(bool)
	m.ridge = c.Param("ridge", 0)
	goldenMatching(t, c, in, &m)
	if classes := c.Ints(t, "classes_in_selection"); len(classes) != len(m.chosen) {
		t.Fatalf("rows are chosen from %d classes, expected %v", len(m.chosen), classes)
	}
	raw := append(slices.Clone(in.z), c.Matrix(t, "unlabeled")...)
	z, norms := raw, slices.Repeat([]float64{1}, len(raw))
	if in.normalize {
		z, norms = unit64(raw)
	}
	n := len(in.z)
	others := features.AllRows(len(raw))[n:]
	want, wantGrad, wantOthers := c.Float(t, "loss"), c.Matrix(t, "grad"), c.Matrix(t, "grad_unlabeled")
	check := func(what string, loss float64, data []float64, lossTol, gradTol float64) {
		t.Helper()
		grad := rowsBy(data, len(z[0]))
		if in.normalize {
			through(grad, z, norms)
		}
		compare(t, what, loss, want, grad[:n], wantGrad, lossTol, gradTol)
		compare(t, what+" unlabelled", loss, want, grad[n:], wantOthers, lossTol, gradTol)
		for y, theta := range c.Floats(t, "theta") {
			if !(math.Abs(m.theta[y]-theta) <= lossTol*(1+math.Abs(theta))) {
				t.Errorf("%s: θ[%d] = %.12g, expected %.12g", what, y, m.theta[y], theta)
			}
		}
	}
	out := flatRows(zeros64(len(z), len(z[0])))
	loss := matchUnlabelled(&m, flatRows(z), out, others, 1)
	check("float64", loss, out.data, lossRel, gradRel)
	out32 := flatRows32(matrix32(zeros64(len(z), len(z[0]))))
	loss = matchUnlabelled(&m, flatRows32(matrix32(z)), out32, others, 1)
	check("float32", loss, wide(out32.data), loss32, grad32)
}
