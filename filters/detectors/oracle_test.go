package detectors

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// world returns clusters with wrong labels: rows of any length, some copied, some without a label. right tells
// which given labels are true.
func world(seed uint64, n, d, classes int, wrong float64) (z features.Set, right []bool) {
	rng := rand.New(rand.NewPCG(seed, 1))
	centres := features.NewMatrix(classes, d)
	for i := range centres.Data {
		centres.Data[i] = float32(rng.NormFloat64())
	}
	z, right = features.NewSet(n, d), make([]bool, n)
	for i := range n {
		c := i % classes
		z.Labels[i], right[i] = c, true
		if rng.Float64() < wrong {
			z.Labels[i], right[i] = (c+1+rng.IntN(classes-1))%classes, false
		}
		length := 0.5 + 2*rng.Float64()
		for j := range d {
			z.Row(i)[j] = float32(length * (float64(centres.Data[c*d+j]) + 0.9*rng.NormFloat64()))
		}
	}
	return z, right
}

// withOddities adds copies of rows and removes labels.
func withOddities(z features.Set) features.Set {
	for i := 0; i+7 < z.Len(); i += 11 {
		copy(z.Row(i+7), z.Row(i))
		z.Labels[i+3] = features.Unlabelled
	}
	return z
}

// slowSelection is Sel-CL by its definition: all similarities in float64, fully sorted.
type slowSelection struct {
	s                  [][]float64
	pseudo             []int
	share, discrepancy []float64
	agree, selected    []bool
	quota, threshold   float64
}

func slowSelCL(z features.Set, classes int, cfg SelCL) *slowSelection {
	n := z.Len()
	o := &slowSelection{pseudo: make([]int, n), share: make([]float64, n), discrepancy: make([]float64, n),
		agree: make([]bool, n), selected: make([]bool, n)}
	unit := features.Set{X: features.NewMatrix(n, z.Dim())}
	copy(unit.X.Data, z.X.Data)
	if err := features.Normalize(unit.X); err != nil {
		panic(err)
	}
	for i := range n {
		row := make([]float64, n)
		for j := range n {
			row[j] = features.Dot(unit.Row(i), unit.Row(j))
		}
		o.s = append(o.s, row)
	}
	k := min(cfg.K, n-1)
	votes := func(i int, labels []int) []float64 {
		order := make([]int, 0, n)
		for j := range n {
			if j != i {
				order = append(order, j)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(o.s[i][b], o.s[i][a]) })
		v := make([]float64, classes)
		for _, j := range order[:k] {
			if labels[j] >= 0 {
				v[labels[j]] += 1 / float64(k)
			}
		}
		return v
	}
	best := func(v []float64) int {
		at := -1
		for c, p := range v {
			if p > 0 && (at < 0 || p > v[at]+1e-12) {
				at = c
			}
		}
		return at
	}
	for i := range n {
		o.pseudo[i] = best(votes(i, z.Labels))
	}
	counts := make([]float64, classes)
	for i, y := range z.Labels {
		o.discrepancy[i] = math.Inf(1)
		if y < 0 {
			continue
		}
		v := votes(i, o.pseudo)
		o.share[i], o.agree[i] = v[y], best(v) == y
		o.discrepancy[i] = -math.Log(math.Max(0.01, math.Min(0.99, v[y])))
		if o.agree[i] {
			counts[y]++
		}
	}
	slices.Sort(counts)
	if cfg.Alpha == 0.5 {
		o.quota = counts[(classes-1)/2]
	} else {
		o.quota = slowQuantile(counts, cfg.Alpha)
	}
	for c := range classes {
		taken := make([]bool, n)
		for range int(o.quota) {
			at := -1
			for i, y := range z.Labels {
				if y == c && !taken[i] && (at < 0 || o.discrepancy[i] < o.discrepancy[at]-1e-9) {
					at = i
				}
			}
			if at >= 0 {
				taken[at], o.selected[at] = true, true
			}
		}
	}
	var list []float64
	for i := range n {
		for j := range n {
			if o.selected[i] && o.selected[j] && z.Labels[i] == z.Labels[j] {
				list = append(list, o.s[i][j])
			}
		}
	}
	slices.Sort(list)
	if o.threshold = math.Inf(1); len(list) > 0 {
		o.threshold = slowQuantile(list, cfg.Beta)
	}
	return o
}

func slowQuantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i]*(float64(i+1)-at) + sorted[i+1]*(at-float64(i))
}

// differs describes where a selection and its pairs differ from the oracle's, or returns "".
func (o *slowSelection) differs(s *Selection, p *Pairs, labels []int) string {
	switch {
	case !slices.Equal(s.Pseudo, o.pseudo):
		return "pseudo labels"
	case !slices.Equal(s.Agree, o.agree):
		return "agreement"
	case !slices.Equal(s.Selected, o.selected):
		return "selection"
	case math.Abs(s.Quota-o.quota) > 1e-9:
		return "quota"
	case math.IsInf(o.threshold, 1) != math.IsInf(p.Threshold, 1) || math.Abs(p.Threshold-o.threshold) > 1e-13:
		return fmt.Sprintf("threshold %v, expected %v", p.Threshold, o.threshold)
	}
	for i, want := range o.share {
		if math.Abs(s.Share[i]-want) > 1e-12 || s.Discrepancy[i] != o.discrepancy[i] &&
			math.Abs(s.Discrepancy[i]-o.discrepancy[i]) > 1e-9 {
			return fmt.Sprintf("share of row %d", i)
		}
		for j := range o.share {
			want := labels[i] >= 0 && labels[i] == labels[j] &&
				(i == j || o.selected[i] && o.selected[j] || o.s[i][j] >= p.Threshold)
			if p.Confident(i, j) != want {
				return fmt.Sprintf("pair %d, %d", i, j)
			}
		}
	}
	return ""
}

// The streamed selection equals the one from fully sorted lists, over settings, sizes that do not fill a block,
// copies, missing labels, more neighbours than rows, and more classes than the labels use.
func TestSelectionIsTheOracles(t *testing.T) {
	for i, c := range []struct {
		n, d, classes int
		cfg           SelCL
	}{
		{90, 8, 4, SelCL{K: 10, Alpha: 0.5, Beta: 0.5}},
		{301, 5, 6, SelCL{K: 25, Alpha: 0.75, Beta: 0.35}},
		{301, 16, 6, SelCL{K: 1, Alpha: 0.25, Beta: 0}},
		{60, 3, 2, SelCL{K: 500, Alpha: 1, Beta: 1}},
		{40, 4, 9, SelCL{K: 3, Alpha: 0, Beta: 0.9}},
		{600, 24, 7, SelCL{K: 40, Alpha: 0.4, Beta: 0.01}},
	} {
		z, _ := world(uint64(i), c.n, c.d, c.classes, 0.3)
		if i%2 == 1 {
			z = withOddities(z)
		}
		classes := c.classes + i%3
		s, err := c.cfg.Select(context.Background(), z, classes)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Pairs(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		o := slowSelCL(z, classes, c.cfg)
		if why := o.differs(s, p, z.Labels); why != "" {
			t.Errorf("case %d: %s", i, why)
		}
		spoil(t, i, o, s, p, z.Labels)
	}
}

// spoil checks that the comparison fails for selections that are slightly wrong.
func spoil(t *testing.T, at int, o *slowSelection, s *Selection, p *Pairs, labels []int) {
	t.Helper()
	for name, twin := range map[string]func() func(){
		"a pseudo label": func() func() { old := s.Pseudo[0]; s.Pseudo[0]++; return func() { s.Pseudo[0] = old } },
		"a selected row": func() func() {
			i := slices.Index(labels, 1)
			s.Selected[i] = !s.Selected[i]
			return func() { s.Selected[i] = !s.Selected[i] }
		},
		"a share": func() func() {
			i := slices.Index(labels, 1)
			old := s.Share[i]
			s.Share[i] += 1e-6
			return func() { s.Share[i] = old }
		},
		"the quota": func() func() { s.Quota += 0.5; return func() { s.Quota -= 0.5 } },
		"the threshold": func() func() {
			if math.IsInf(p.Threshold, 1) {
				p.Threshold = 0.5
				return func() { p.Threshold = math.Inf(1) }
			}
			old := p.Threshold
			p.Threshold *= 1 + 1e-9
			return func() { p.Threshold = old }
		},
	} {
		undo := twin()
		if o.differs(s, p, labels) == "" {
			t.Errorf("case %d: the check does not see a difference in %s", at, name)
		}
		undo()
	}
}

// The neighbours in a set that fills several blocks in both directions equal those of a complete sort.
func TestNearestAcrossBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("sorts a matrix of 4,400 rows")
	}
	z, _ := world(3, blockCols+304, 6, 5, 0)
	for i := 0; i < 300; i++ { // copies: equally near, on both sides of a block's edge
		copy(z.Row(blockCols-150+i), z.Row(17))
	}
	z, err := unitCopy(z, 5)
	if err != nil {
		t.Fatal(err)
	}
	const k = 30
	got, err := findNeighbours(context.Background(), z, k)
	if err != nil {
		t.Fatal(err)
	}
	order := make([]int32, 0, z.Len())
	for _, i := range []int{0, 17, blockRows - 1, blockRows, 2000, blockCols - 1, blockCols, z.Len() - 1} {
		order = order[:0]
		for j := range z.Len() {
			if j != i {
				order = append(order, int32(j))
			}
		}
		slices.SortStableFunc(order, func(a, b int32) int {
			return cmp.Compare(features.Dot(z.Row(i), z.Row(int(b))), features.Dot(z.Row(i), z.Row(int(a))))
		})
		want := slices.Sorted(slices.Values(order[:k]))
		if !slices.Equal(got.neighboursOf(i), want) {
			t.Errorf("row %d: found %v, expected %v", i, got.neighboursOf(i), want)
		}
	}
}

// slowTCL returns the detection by its definition, in float64, without the mixture.
func slowTCL(z features.Set, classes int, temperature float64, p [][]float64) (centres [][]float64, loss []float64) {
	n, d := z.Len(), z.Dim()
	unit := make([][]float64, n)
	for i := range n {
		unit[i] = make([]float64, d)
		var square float64
		for _, v := range z.Row(i) {
			square += float64(v) * float64(v)
		}
		for j, v := range z.Row(i) {
			unit[i][j] = float64(v) / math.Sqrt(square)
		}
	}
	for k := range classes {
		c, square := make([]float64, d), 0.0
		for i := range n {
			for j := range d {
				c[j] += p[i][k] * unit[i][j]
			}
		}
		for _, v := range c {
			square += v * v
		}
		for j := range c {
			c[j] /= math.Max(math.Sqrt(square), 1e-12)
		}
		centres = append(centres, c)
	}
	loss = make([]float64, n)
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, y := range z.Labels {
		if y < 0 {
			continue
		}
		var own, all float64
		for k, c := range centres {
			var s float64
			for j := range d {
				s += unit[i][j] * c[j]
			}
			e := math.Exp(s / temperature)
			all += e
			if k == y {
				own = e
			}
		}
		loss[i] = -own / all
		lo, hi = math.Min(lo, loss[i]), math.Max(hi, loss[i])
	}
	for i, y := range z.Labels {
		if y >= 0 {
			loss[i] = (loss[i] - lo) / (hi - lo)
		}
	}
	return centres, loss
}

// matrixOf returns the rows of p as a classifier would.
func matrixOf(p [][]float64) Probabilities {
	return func(dst blas32.General, _ features.Set, from int) {
		for i := range dst.Rows {
			for k, v := range p[from+i] {
				features.Row(dst, i)[k] = float32(v)
			}
		}
	}
}

func randomProbabilities(rng *rand.Rand, n, classes int) [][]float64 {
	p := make([][]float64, n)
	for i := range p {
		p[i] = make([]float64, classes)
		for k := range p[i] {
			p[i][k] = 2 * rng.NormFloat64()
		}
		features.Softmax(p[i], p[i])
	}
	return p
}

func TestDetectionIsTheOracles(t *testing.T) {
	for i, c := range []struct {
		n, d, classes int
		temperature   float64
		perClass      bool
	}{{80, 6, 4, 0.25, false}, {5001, 4, 3, 0.07, true}, {120, 12, 40, 1, false}, {33, 3, 2, 0.5, true}} {
		z, _ := world(uint64(20+i), c.n, c.d, c.classes, 0.4)
		if i%2 == 0 {
			z = withOddities(z)
		}
		p := randomProbabilities(rand.New(rand.NewPCG(uint64(i), 9)), c.n, c.classes)
		d, err := TCL{Temperature: c.temperature, PerClass: c.perClass}.Detect(z, c.classes, matrixOf(p))
		if err != nil {
			t.Fatal(err)
		}
		centres, loss := slowTCL(z, c.classes, c.temperature, p)
		worst := func(shift float64) float64 {
			far := 0.0
			for i, want := range loss {
				far = math.Max(far, math.Abs(d.Loss[i]+shift-want))
			}
			for k, row := range centres {
				for j, want := range row {
					far = math.Max(far, math.Abs(float64(features.Row(d.Centres, k)[j])+shift-want))
				}
			}
			return far
		}
		const tolerance = 2e-5
		if far := worst(0); far > tolerance {
			t.Errorf("case %d: off by %v", i, far)
		}
		if worst(1e-4) <= tolerance {
			t.Errorf("case %d: the check does not see a shift", i)
		}
		checkPosterior(t, d, z.Labels, c.perClass)
	}
}

// checkPosterior compares P(clean) with explicit densities, and checks that the fit is a maximum: the
// likelihood of the mixture is no lower than that of its neighbours.
func checkPosterior(t *testing.T, d *Detection, labels []int, perClass bool) {
	t.Helper()
	density := func(m mixture, k int, x float64) float64 {
		return m.Weight[k] / math.Sqrt(2*math.Pi*m.Variance[k]) *
			math.Exp(-(x-m.Mean[k])*(x-m.Mean[k])/(2*m.Variance[k]))
	}
	for i, y := range labels {
		if y < 0 {
			if d.Clean[i] != 0 || d.Loss[i] != 0 {
				t.Fatalf("row %d has no label, and P(clean) %v", i, d.Clean[i])
			}
			continue
		}
		m := d.Mixtures[0]
		if perClass {
			m = d.Mixtures[y]
		}
		a, b := density(m, 0, d.Loss[i]), density(m, 1, d.Loss[i])
		if math.Abs(d.Clean[i]-a/(a+b)) > 1e-9 {
			t.Fatalf("P(clean) of row %d: found %v, expected %v", i, d.Clean[i], a/(a+b))
		}
	}
	if perClass {
		return
	}
	likelihood := func(m mixture) (sum float64) {
		for i, y := range labels {
			if y >= 0 {
				sum += math.Log(density(m, 0, d.Loss[i]) + density(m, 1, d.Loss[i]))
			}
		}
		return sum
	}
	at := likelihood(d.Mixtures[0])
	for k := range 2 {
		for _, step := range []float64{-0.02, 0.02} {
			m := d.Mixtures[0]
			m.Mean[k] += step
			if likelihood(m) > at+1e-3 {
				t.Errorf("mean %d by %v is likelier: %v, found %v", k, step, likelihood(m), at)
			}
			m = d.Mixtures[0]
			m.Variance[k] *= 1 + 5*step
			if likelihood(m) > at+1e-1 { // each variance has the floor added
				t.Errorf("variance %d by %v is likelier: %v, found %v", k, step, likelihood(m), at)
			}
		}
	}
}

// The mean of a row's given label is that of the other rows.
func TestGivenMeansLeaveTheRowOut(t *testing.T) {
	z, _ := world(5, 50, 7, 4, 0.3)
	z = withOddities(z)
	const classes, temperature = 5, 0.3 // the last class has no row
	p, err := GivenMeans(z, classes, temperature)
	if err != nil {
		t.Fatal(err)
	}
	u, err := unitCopy(z, classes)
	if err != nil {
		t.Fatal(err)
	}
	got := features.NewMatrix(z.Len(), classes)
	p(got, u, 0)
	for _, leave := range []bool{true, false} { // false: the spoiled twin counts the row itself
		far := 0.0
		for i := range z.Len() {
			l := make([]float64, classes)
			for k := range l {
				sum := make([]float64, z.Dim())
				for j, y := range z.Labels {
					if y == k && (j != i || !leave) {
						for at, v := range u.Row(j) {
							sum[at] += float64(v)
						}
					}
				}
				var along, square float64
				for at, v := range u.Row(i) {
					along += sum[at] * float64(v)
					square += sum[at] * sum[at]
				}
				if square > 0 {
					l[k] = along / math.Sqrt(square) / temperature
				}
			}
			features.Softmax(l, l)
			for k, want := range l {
				far = math.Max(far, math.Abs(float64(features.Row(got, i)[k])-want))
			}
		}
		if (far < 1e-5) != leave {
			t.Errorf("row left out: %v: off by %v", leave, far)
		}
	}
}
