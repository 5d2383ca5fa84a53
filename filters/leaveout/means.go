package leaveout

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// Means holds products of the class means, from which similarities to images are computed. If class sizes are similar
// (not [Uneven]), the similarity t_k is the cosine of x and m_k. Otherwise it is, up to a constant,
//
//	t_k = f_k ((⟨x-μ, m_k-μ⟩ + (e_k - e)/C) L_k/ℓ_k - ½ (C-2)/(C-1) D_k) / (|x-μ| √U)
//	μ = Σ_k m_k/C,   e_k = τ/n_k,   e = Σ_k e_k/C,   ℓ_k² = |m_k-μ|² - (1 - 2/C)(e_k - e),   U = Σ_k ℓ_k²/C
//	D_k = L_k² - (1 - 1/C) e,   f_k ∝ D_k/(D_k + e_k)
//
// τ is the variance of images about their class means, and L_k the usual ℓ of classes with about as many images. Four
// effects matter if sizes differ:
//
//   - All classes have the same weight in μ. The mean of all images would lie within a class of nearly all images, and
//     half of that class would then be on the side of the other classes.
//   - The mean of few images has a large error, which makes the class seem far from all images. The terms with e_k
//     remove the error in excess of the average (Chan & Hall, "Scale adjustments for classifiers in high-dimensional,
//     low sample size settings", Biometrika 2009).
//   - Such a mean carries less information: f_k is the share of its distance from μ that is not error (James & Stein).
//   - A small class is farther from μ in whitened vectors; D_k puts the decision boundary halfway.
//
// The image itself is left out of the means of its classes, of μ and of τ, using products only: if its share in a class
// of weight W is r, the mean of the others is α m - β x with α = W/(W-r), β = r/(W-r).
type Means struct {
	norms   []float64 // |m_k|²
	middle  []float64 // ⟨m_k, μ⟩
	weight  []float64 // Σ r of each class
	squares []float64 // Σ r²
	gram    []float64 // ⟨m_k, m_l⟩, C×C; nil for many classes, where an image hardly changes μ
	uneven  bool
	Usual   []float64 // L_k²/U over all images
}

// mostGram is the largest number of classes for which an image is left out of μ.
const mostGram = 512

// NewMeans computes the products of the class means from the class sums, which have one row of dim values per class.
// scale weights the dimensions; nil: equal weights. left reports whether images will be left out.
func NewMeans(sums, scale, weight, squares []float64, spread float64, left bool) *Means {
	c := len(weight)
	d := len(sums) / c
	m := &Means{make([]float64, c), make([]float64, c), weight, squares, nil, Uneven(weight), nil}
	means, scaled, mu := make([]float64, c*d), make([]float64, c*d), make([]float64, d)
	for k, w := range weight {
		mean, by := means[k*d:][:d], scaled[k*d:][:d]
		if w < least {
			continue
		}
		floats.ScaleTo(mean, 1/w, sums[k*d:][:d])
		floats.AddScaled(mu, 1/float64(c), mean)
		if copy(by, mean); scale != nil {
			floats.Mul(by, scale)
		}
		m.norms[k] = floats.Dot(mean, by)
	}
	for k := range weight {
		m.middle[k] = floats.Dot(mu, scaled[k*d:][:d])
	}
	if m.uneven && left && c <= mostGram {
		m.gram = make([]float64, c*c)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, blas64.General{Rows: c, Cols: d, Stride: d, Data: means},
			blas64.General{Rows: c, Cols: d, Stride: d, Data: scaled}, 0,
			blas64.General{Rows: c, Cols: c, Stride: c, Data: m.gram})
	}
	if m.uneven {
		m.measureUsual(spread)
	}
	return m
}

// Uneven reports whether class sizes differ by a factor of three, or by a factor of two and by more than random flips
// explain: the square root of a count has a standard deviation of about 1/2, and 2.5 is five of them.
func Uneven(images []float64) bool {
	most, fewest := slices.Max(images), slices.Min(images)
	return most >= 3*fewest || most >= 2*fewest && math.Sqrt(most)-math.Sqrt(fewest) >= 2.5
}

// measureUsual computes the usual squared lengths, relative to their mean.
func (m *Means) measureUsual(spread float64) {
	c := len(m.weight)
	w, all := NewWork(c), make([]float64, c)
	copy(w.norm, m.norms)
	copy(w.middle, m.middle)
	free := m.countNoise(w)
	u := m.measureLengths(all, Left{Spread: spread}, w, 0, free)
	m.Usual = slices.Repeat([]float64{1}, c)
	for k, n := range m.weight {
		var sum, of float64
		for l, v := range m.weight {
			if w.noise[k] > 0 && w.noise[l] > 0 {
				apart := math.Log(v/n) / alike
				by := v * math.Exp(-apart*apart/2)
				sum += by * max(w.norm[l], 0)
				of += by
			}
		}
		if of > 0 && u.usual > 0 {
			m.Usual[k] = max(sum/of/u.usual, leastUsual)
		}
	}
}

const (
	alike      = 0.35 // width in log weight within which classes count as similar in size
	leastUsual = 0.05
	worth      = 5 // weight of L_k against ℓ_k, as a number of images
)

// countNoise computes Σr²/(Σr)² of every class, and returns the number of images minus the number of classes.
func (m *Means) countNoise(w *Work) (free float64) {
	for k, v := range m.weight {
		if w.noise[k] = 0; v >= least {
			w.noise[k] = m.squares[k] / (v * v)
			free += v - m.squares[k]/v
		}
	}
	return free
}

// Left describes the image to compare and how it is left out.
type Left struct {
	Square float64 // |x|²
	Parts  []Part  // its shares in the classes, to be left out; nil: none
	Gain   float64 // 1/(1 - |x|²) if x is to be left out of a metric learned from all images; else 0
	Spread float64 // Σ r|x|² over the other images, in their metric
	Shift  float64 // 1/(n-1) if x is to be left out of an origin that is the mean of n images; else 0

	// Own, if not nil, replaces the product, the square and the weight of the first class without the image.
	Own *[3]float64
}

// Work is scratch memory for comparisons.
type Work struct{ norm, middle, noise []float64 }

// NewWork returns scratch memory for comparisons with c classes.
func NewWork(c int) *Work { return &Work{make([]float64, c), make([]float64, c), make([]float64, c)} }

// Compare replaces the products ⟨x, m_k⟩ in row by the similarities t_k.
func (m *Means) Compare(row []float64, x Left, w *Work) {
	c := float64(len(row))
	copy(w.norm, m.norms)
	copy(w.middle, m.middle)
	free := m.countNoise(w)
	for _, p := range x.Parts { // μ first: it uses products that include the image
		alpha, beta := leaveShares(m.weight[p.Column], p.Weight)
		if m.gram == nil || alpha == 0 {
			continue
		}
		for k, g := range m.gram[p.Column*len(row):][:len(row)] {
			w.middle[k] += ((alpha-1)*g - beta*row[k]) / c
		}
	}
	var along float64 // ⟨x, μ⟩
	for at, p := range x.Parts {
		k := p.Column
		alpha, beta := leaveShares(m.weight[k], p.Weight)
		v, rest := row[k], m.weight[k]-p.Weight
		free -= m.weight[k] - m.squares[k]/m.weight[k]
		squares := max(m.squares[k]-p.Weight*p.Weight, 0)
		row[k], w.noise[k] = alpha*v-beta*x.Square, 0
		w.norm[k] = alpha*alpha*w.norm[k] - 2*alpha*beta*v + beta*beta*x.Square
		if x.Own != nil && at == 0 {
			row[k], w.norm[k], rest = x.Own[0], x.Own[1], x.Own[2]
			squares = rest
		}
		if alpha != 0 {
			free += rest - squares/rest
			w.noise[k] = squares / (rest * rest)
		}
	}
	if !m.uneven {
		square := x.Square * (1 + x.Square*x.Gain)
		for k, v := range row {
			norm := w.norm[k] + v*v*x.Gain
			v *= 1 + x.Square*x.Gain
			row[k] = (v + x.Shift*square) * inverseLength(math.Sqrt(square*(norm+2*x.Shift*v+x.Shift*x.Shift*square)))
		}
		return
	}
	for _, v := range row {
		along += v / c
	}
	for _, p := range x.Parts {
		alpha, beta := leaveShares(m.weight[p.Column], p.Weight)
		w.middle[p.Column] = alpha*w.middle[p.Column] - beta*along
	}
	m.setSimilarities(row, x, w, along, free)
}

// leaveShares returns α and β of [Means], or zeros if no other image is in the class.
func leaveShares(weight, share float64) (alpha, beta float64) {
	if weight-share < least {
		return 0, 0
	}
	return weight / (weight - share), share / (weight - share)
}

// lengths holds |x-μ|², U (the mean of ℓ_k²), e and |μ|² for a comparison.
type lengths struct{ own, usual, noise, centre, within float64 }

// measureLengths computes ℓ_k² in w.norm from the products without the image, in a metric that includes the image.
func (m *Means) measureLengths(row []float64, x Left, w *Work, along, free float64) (l lengths) {
	c := float64(len(row))
	l.within = x.Spread
	for k, v := range row {
		w.norm[k] += v * v * x.Gain
		w.middle[k] += v * along * x.Gain
		l.centre += w.middle[k] / c
		if w.noise[k] > 0 {
			l.within -= w.norm[k] * m.weightWithout(k, x)
		}
	}
	l.within = max(l.within, 0) / max(free, 1)
	for _, v := range w.noise {
		l.noise += l.within * v / c
	}
	l.own = max((x.Square-2*along)*(1+x.Square*x.Gain)+l.centre, 0)
	for k := range row {
		w.norm[k] += l.centre - 2*w.middle[k] - (1-2/c)*(l.within*w.noise[k]-l.noise)
		l.usual += max(w.norm[k], 0) / c
	}
	return l
}

// setSimilarities replaces the products in row by t.
func (m *Means) setSimilarities(row []float64, x Left, w *Work, along, free float64) {
	l := m.measureLengths(row, x, w, along, free)
	c := float64(len(row))
	noise, least := (1-1/c)*l.noise, leastUsual*l.usual
	distance := func(usual float64) float64 { return max(usual*l.usual-noise, least) }
	mean, scale := distance(1), inverseLength(math.Sqrt(l.own*l.usual))
	for k, v := range row {
		if w.noise[k] == 0 || mean <= 0 {
			row[k] = 0
			continue
		}
		product := (v-along)*(1+x.Square*x.Gain) - w.middle[k] + l.centre + (l.within*w.noise[k]-l.noise)/c
		n := 1 / w.noise[k]
		length := (n*max(w.norm[k], 0) + worth*l.usual*m.Usual[k]) / (n + worth)
		far := distance(m.Usual[k])
		known := far / (far + l.within*w.noise[k]) * l.usual / mean
		row[k] = scale * (known*product*inverseLength(math.Sqrt(length))*math.Sqrt(m.Usual[k]*l.usual) -
			(known*far-mean)/2*(c-2)/(c-1))
	}
}

// weightWithout returns the weight of a class without the image.
func (m *Means) weightWithout(k int, x Left) float64 {
	weight := m.weight[k]
	for at, p := range x.Parts {
		if p.Column == k {
			if weight -= p.Weight; at == 0 && x.Own != nil {
				return x.Own[2]
			}
		}
	}
	return weight
}
