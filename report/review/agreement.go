package review

import "math"

// agreement is how far reviewers agree beyond chance, as JSON.
type agreement struct {
	Reviewers int     `json:"reviewers"`
	Images    int     `json:"images"`  // decided for sure by two reviewers or more
	Measure   string  `json:"measure"` // cohen: of two reviewers; fleiss: of more
	Agreed    float64 `json:"agreed"`  // share of pairs of answers that are alike
	Kappa     float64 `json:"kappa"`   // 1: always; 0: as by chance
	Low       float64 `json:"low"`     // interval of 95 %
	High      float64 `json:"high"`
}

// verdicts counts what was said about images: of every image, how often each answer, by the answer's number.
type verdicts struct {
	items   [][]int32 // numbers of answers of an image, in the order of reviewers
	answers int
}

// compareReviewers compares the answers of reviewers who were sure: keep, drop and each new label are answers. It
// returns nil if no image has two.
//
// Of two reviewers it is Cohen's kappa (A coefficient of agreement for nominal scales, Educational and Psychological
// Measurement 20, 1960), of more that of Fleiss (Measuring nominal scale agreement among many raters, Psychological
// Bulletin 76, 1971), where images may have answers of different numbers of reviewers. The interval is that of the
// jackknife over images.
func (d *decided) compareReviewers() *agreement {
	type said struct {
		action uint8
		label  int32
	}
	number, who := map[said]int32{}, map[int32]bool{}
	var v verdicts
	var by [][]int32
	for image, votes := range d.votes {
		if d.table.id[image] == none || len(votes) < 2 {
			continue
		}
		var list, names []int32
		for _, w := range votes {
			if !settlesLabel(w.action) {
				continue
			}
			key := said{w.action, w.label}
			if _, ok := number[key]; !ok {
				number[key] = int32(len(number))
			}
			list, names = append(list, number[key]), append(names, w.reviewer)
		}
		if len(list) < 2 {
			continue
		}
		for _, n := range names {
			who[n] = true
		}
		v.items, by = append(v.items, list), append(by, names)
	}
	if len(v.items) == 0 {
		return nil
	}
	v.answers = len(number)
	a := &agreement{Reviewers: len(who), Images: len(v.items), Measure: "fleiss"}
	if len(who) == 2 {
		a.Measure = "cohen"
		for i, names := range by { // the same reviewer first
			if names[0] > names[1] {
				v.items[i] = []int32{v.items[i][1], v.items[i][0]}
			}
		}
	}
	a.Agreed, a.Kappa, a.Low, a.High = v.computeKappaInterval(a.Measure == "cohen")
	return a
}

// tallies are sums over images from which kappa follows.
type tallies struct {
	alike         float64   // Σ share of alike pairs of answers
	images, total float64   // images, answers
	all           []float64 // of each answer
	first, second []float64 // of each answer, of the first and second reviewer
}

// addImage adds an image, or takes it away again.
func (t *tallies) addImage(item []int32, by float64) {
	pairs, same := 0.0, 0.0
	for i, a := range item {
		for _, b := range item[i+1:] {
			pairs++
			if a == b {
				same++
			}
		}
		t.all[a] += by
		t.total += by
	}
	t.first[item[0]] += by
	t.second[item[1]] += by
	t.alike += by * same / pairs
	t.images += by
}

// computeKappa returns the share of alike pairs, and kappa = (agreed - chance)/(1 - chance). If all answers are the
// same one, it is 1.
func (t *tallies) computeKappa(two bool) (agreed, chance, kappa float64) {
	agreed = t.alike / t.images
	for k := range t.all {
		if two {
			chance += t.first[k] / t.images * t.second[k] / t.images
		} else {
			chance += t.all[k] / t.total * t.all[k] / t.total
		}
	}
	if chance > 1-1e-12 {
		return agreed, chance, 1
	}
	return agreed, chance, (agreed - chance) / (1 - chance)
}

// computeKappaInterval returns the share of alike pairs, kappa and its interval. With one image it is -1 to 1.
func (v *verdicts) computeKappaInterval(two bool) (agreed, kappa, low, high float64) {
	t := tallies{all: make([]float64, v.answers), first: make([]float64, v.answers),
		second: make([]float64, v.answers)}
	for _, item := range v.items {
		t.addImage(item, 1)
	}
	agreed, chance, kappa := t.computeKappa(two)
	n := float64(len(v.items))
	if n < 2 {
		return agreed, kappa, -1, 1
	}
	sum, square := 0.0, 0.0
	for _, item := range v.items {
		t.addImage(item, -1)
		_, _, k := t.computeKappa(two)
		t.addImage(item, 1)
		sum, square = sum+k, square+k*k
	}
	vary := max(square-sum*sum/n, 0) * (n - 1) / n
	half := 1.96 * math.Sqrt(vary)
	if agreed == 1 { // nothing varies: by the rule of three, up to 3/n of the images may have different answers
		half = 3 / n / max(1-chance, 1e-3)
	}
	return agreed, kappa, max(kappa-half, -1), min(kappa+half, 1)
}
