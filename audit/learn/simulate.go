package learn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/suspects"
)

// Simulated reports the number of decisions after which given shares of the label errors are found.
type Simulated struct {
	Images   int       `json:"images"`
	Wrong    int       `json:"wrong"`              // label errors
	Features string    `json:"features,omitempty"` // folder of the vectors; "": no vectors
	Reached  []Reached `json:"reached"`
}

// Reached is the number of decisions after which a share of the label errors is found.
type Reached struct {
	Share    float64 `json:"share"`
	ByList   int     `json:"by_list"`  // in the order of the audit's list
	Learning int     `json:"learning"` // in the order of a review that learns
}

// Simulate simulates a review of an audit's list whose true labels are known. The list is sorted, most suspect first. A
// simulated reviewer, who always answers with the true label, decides about all images: once in the order of the list
// and once in the order of a [Review]. True labels are used only for the answers. vectors may have no rows.
func Simulate(ctx context.Context, list []suspects.Suspect, vectors blas32.General) (p Simulated, err error) {
	p.Images = len(list)
	if p.Images == 0 {
		return p, errors.New("the list is empty")
	}
	number := map[string]int{}
	for _, e := range list {
		if e.True == "" {
			return p, fmt.Errorf("image %q has no true label, expected one in column true_label of each row", e.Path)
		}
		for _, name := range []string{e.Given, e.Suggested, e.True} {
			if _, ok := number[name]; !ok {
				number[name] = len(number)
			}
		}
		if e.Given != e.True {
			p.Wrong++
		}
	}
	l, err := New(ctx, EvidenceOf(list, number, vectors))
	if err != nil {
		return p, err
	}
	var byList, learning []bool // whether each decision finds a label error
	for _, e := range list {
		byList = append(byList, e.Given != e.True)
	}
	for r := NewReview(l); len(learning) < len(list); {
		if err := ctx.Err(); err != nil {
			return p, err
		}
		order := r.Order()
		for _, i := range order[:min(Batch, len(order))] {
			d := Decision{Image: i, Verdict: Right, Label: None}
			if byList[i] {
				d.Verdict, d.Label = Wrong, number[list[i].True]
			}
			learning = append(learning, byList[i])
			r.Add(d)
		}
	}
	for _, share := range []float64{0.5, 0.8, 0.95} {
		p.Reached = append(p.Reached, Reached{share, countUntil(byList, share*float64(p.Wrong)),
			countUntil(learning, share*float64(p.Wrong))})
	}
	return p, nil
}

// countUntil returns the number of decisions needed to find at least n label errors.
func countUntil(found []bool, n float64) (decisions int) {
	for sum := 0; float64(sum) < n; decisions++ {
		if found[decisions] {
			sum++
		}
	}
	return decisions
}

// Text returns the numbers as a table.
func (p Simulated) Text() string {
	var b strings.Builder
	from := p.Features
	if from == "" {
		from = "the list only, without features"
	}
	fmt.Fprintf(&b, "%d images, %d label errors; learning from %s\n", p.Images, p.Wrong, from)
	fmt.Fprintf(&b, "%-12s %8s %9s\n", "errors found", "by list", "learning")
	for _, r := range p.Reached {
		fmt.Fprintf(&b, "%-12s %8d %9d\n", fmt.Sprintf("%.0f %%", 100*r.Share), r.ByList, r.Learning)
	}
	return b.String()
}
