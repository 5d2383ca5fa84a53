package losses

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"winnow/internal/testing/reference"
)

// tripletNames maps a golden case's parameters to the loss's settings.
var tripletNames = map[string]string{
	"distance": "distance", "margin": "margin", "smooth": "smooth", "swap": "swap", "reduction": "reduction",
	"triplets": "select",
}

// tripletWords maps the reference implementation's values to winnow's.
var tripletWords = map[string]map[any]string{
	"triplets": {"all": "all", "hard": "hard", "semihard": "semihard_all", "easy": "easy"},
	"type":     {"all": "violating", "hard": "hard", "semihard": "semihard_all", "easy": "easy"},
}

// caseSettings adds every parameter of a case to the base settings. A parameter missing from names fails the test.
func caseSettings(t *testing.T, c reference.Case, base map[string]any, names map[string]string) map[string]any {
	t.Helper()
	out := maps.Clone(base)
	if out == nil {
		out = map[string]any{}
	}
	for param, value := range c.Params {
		name, ok := names[param]
		if words := tripletWords[param]; ok && words != nil && value != nil {
			value, ok = words[value], words[value] != ""
		}
		if !ok {
			t.Fatalf("parameter %s = %v has no setting", param, c.Params[param])
		}
		if value != nil { // JSON's null means that the setting is not given
			out[name] = value
		}
	}
	return out
}

func tripletCheck(loss string, base map[string]any, names map[string]string) func(*testing.T, reference.Case) {
	return func(t *testing.T, c reference.Case) {
		settings := caseSettings(t, c, base, names)
		pairCheck(loss, func(reference.Case) map[string]any { return settings })(t, c)
	}
}

// listed is a triplet loss that sums given triplets instead of selecting them.
type listed struct {
	*triplet
	triplets [3][]int
}

func (l listed) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	l.delta = make([]float64, r)
	t := tally{}
	clear(dS)
	for i, a := range l.triplets[0] {
		l.distance.fillDistances(l.delta, nil, S[a*r:(a+1)*r])
		t.d = make([]float64, r)
		l.addTriplet(&t, l.triplets[1][i], l.triplets[2][i])
		l.distance.chainDistance(t.d, l.delta)
		for j, d := range t.d {
			dS[a*r+j] += d
		}
	}
	return t.sum, t.tallyDivisor(l.reduce, p)
}

// goldenTripletIndices checks the loss of given triplets. If the case states that the triplets are a set of the margin
// miner, it also checks the corresponding selection.
func goldenTripletIndices(t *testing.T, c reference.Case) {
	names := maps.Clone(tripletNames)
	delete(names, "swap")
	which := fmt.Sprint(c.Params["which"])
	delete(c.Params, "which")
	settings := caseSettings(t, c, map[string]any{"select": "all"}, names)
	l := mustNew(t, "triplet", maps.Clone(settings), goldenEnv(t, c)).(*similarity)
	fn := listed{triplet: l.fn.(*triplet)}
	c.Decode(t, "indices", &fn.triplets)
	l.fn, l.whole = fn, true
	in := goldenInput(t, c)
	loss, grad := exactPairs(l, in)
	compare(t, "float64", loss, c.Float(t, "loss"), grad, c.Matrix(t, "grad"), lossRel, gradRel)
	loss, grad = public(l, in)
	compare(t, "float32", loss, c.Float(t, "loss"), grad, c.Matrix(t, "grad"), loss32, grad32)
	if strings.HasPrefix(which, "all semi-hard") {
		settings["select"] = "semihard_all"
		pairCheck("triplet", func(reference.Case) map[string]any { return settings })(t, c)
	}
}

const batchHard = "batch_hard"

// mined returns a triplet loss and the distances from which it selects triplets.
func mined(
	t *testing.T, c reference.Case, kind string, names map[string]string,
) (l *triplet, in exactInput, matrix []float64) {
	settings := caseSettings(t, c, map[string]any{"select": kind, "smooth": true}, names)
	l = mustNew(t, "triplet", settings, goldenEnv(t, c)).(*similarity).fn.(*triplet)
	in = goldenInput(t, c)
	z, _ := unit64(in.z)
	matrix = make([]float64, len(z)*len(z))
	l.distance.fillDistances(matrix, nil, cosines(z, z, true))
	return l, in, matrix
}

// byAnchor calls use for every anchor, after it has set the loss's distances for this anchor.
func byAnchor(l *triplet, in exactInput, matrix []float64, use func(a int, p *pairs)) {
	n := len(in.labels)
	p := &pairs{rows: in.labels, cols: in.labels, self: true}
	for a := range in.labels {
		l.delta = matrix[a*n : (a+1)*n]
		use(a, p)
	}
}

// compareSets compares lists as sets.
func compareSets(t *testing.T, c reference.Case, field string, got []string) {
	t.Helper()
	var raw [][]any
	c.Decode(t, field, &raw)
	var want []string
	for _, row := range raw {
		if list, ok := row[len(row)-1].([]any); ok {
			slices.SortFunc(list, func(a, b any) int { return int(a.(float64)) - int(b.(float64)) })
		}
		want = append(want, fmt.Sprint(row))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("found %v, expected %v", got, want)
	}
}

// setTriplets lists the triplets that a set selection takes for anchor a, from the ranges over which the loss sums.
func setTriplets(l *triplet, a int, p *pairs) (out [][3]int) {
	if l.mates.rankPositives(l.delta, a, p, l.choose, l.margin) == 0 {
		return nil
	}
	for n, y := range p.cols {
		if y == p.rows[a] {
			continue
		}
		from, to := l.mates.choosingRange(l.delta[n])
		for _, j := range l.mates.order[from:to] {
			out = append(out, [3]int{a, int(j), n})
		}
	}
	return out
}

func goldenMarginMiner(t *testing.T, c reference.Case) {
	l, in, matrix := mined(t, c, "", map[string]string{"type": "select", "margin": "gap", "distance": "distance"})
	var got []string
	byAnchor(l, in, matrix, func(a int, p *pairs) {
		for _, triplet := range setTriplets(l, a, p) {
			got = append(got, fmt.Sprint(triplet))
		}
	})
	compareSets(t, c, "triplets", got)
}

func goldenBatchHard(t *testing.T, c reference.Case) {
	l, in, matrix := mined(t, c, batchHard, map[string]string{"distance": "distance"})
	var got []string
	byAnchor(l, in, matrix, func(a int, p *pairs) {
		if far, near := l.findHardest(a, p); far >= 0 && near >= 0 {
			got = append(got, fmt.Sprint([]int{a, far, near}))
		}
	})
	compareSets(t, c, "triplets", got)
}

// goldenCandidates returns a check that compares the candidates of the random draw for every ordered positive pair.
func goldenCandidates(kind string) func(*testing.T, reference.Case) {
	return func(t *testing.T, c reference.Case) {
		l, in, matrix := mined(t, c, kind, map[string]string{"alpha": "gap", "distance": "distance"})
		var got []string
		byAnchor(l, in, matrix, func(a int, p *pairs) {
			if l.gatherWindows(a, p) {
				for _, j := range l.mates.members {
					list := slices.Clone(l.windowNegatives(j))
					slices.Sort(list)
					got = append(got, fmt.Sprint([]any{a, j, list}))
				}
			}
		})
		compareSets(t, c, "candidates", got)
	}
}

func goldenFixedSemihard(t *testing.T, c reference.Case) {
	l, in, matrix := mined(t, c, "fixed_semihard", map[string]string{"distance": "distance"})
	var got []string
	byAnchor(l, in, matrix, func(a int, p *pairs) {
		mates, negatives := l.takeNearest(a, p)
		for k, j := range mates {
			got = append(got, fmt.Sprint([]any{a, j, negatives[k]}))
		}
	})
	compareSets(t, c, "choice", got)
}
