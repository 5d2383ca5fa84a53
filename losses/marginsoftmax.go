package losses

// marginSoftmax is a cross entropy over cosines to classes, where the cosine to the own class is lowered first.
//
//	L = 1/n Σ_i -log softmax_c(λ u_ic)[y_i],   u_iy = own(s_iy),  u_ic = s_ic for c ≠ y
//
// own is an increasing function that is at most the identity: the row has to be nearer to its class by a margin
// to reach the same loss. Defined for any batch; absent classes are still pushed away, a single class gives 0.
// Time O(n·C·d), memory O(n·C). Source: the common form of ArcFace (arcface.go), CosFace (cosface.go) and,
// without a margin, the normalised softmax (normsoftmax.go).
type marginSoftmax struct {
	own   func(s float64) (u, slope float64)
	scale float64   // λ
	row   []float64 // u of a row, then its derivative; used when no derivative is wanted
}

func (l *marginSoftmax) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	l.row = growSlice(l.row, r)
	for i, y := range p.rows {
		d := l.row
		if dS != nil {
			d = dS[i*r : (i+1)*r]
		}
		copy(d, S[i*r:(i+1)*r])
		sum += l.rowLoss(d, y)
	}
	return sum, float64(len(p.rows))
}

// rowLoss returns the loss of one row; s, its cosines to the classes, becomes its derivative with respect to them.
func (l *marginSoftmax) rowLoss(s []float64, y int) float64 {
	u, slope := l.own(s[y])
	s[y] = u
	loss := softmaxLoss(s, s, l.scale, y)
	s[y] *= slope
	return loss
}

// scaleSetting is λ of the losses with a margin. Both papers use 64 for faces, and pytorch-metric-learning uses
// it everywhere.
var scaleSetting = Setting{Name: "scale", Symbol: "λ", Default: 64.0, Min: 1e-3, Max: 1e4,
	Doc: "multiplies the cosines: the larger, the more the nearest classes count"}
