package review

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/location"
)

// readDrawn is like [ReadAudit], but uses only n images drawn at random from the audit, or all if there are fewer. The
// draw depends only on the paths, so it is the same for every audit. All drawn images are listed as suspects, in random
// order. The share of wrong labels among them estimates the share among all labels.
func readDrawn(auditFile string, manifestFile location.Source, d *datasets.Dataset, n int) (*Audit, error) {
	var drawn []suspects.Suspect
	_, err := suspects.Each(auditFile, func(e suspects.Suspect) error { drawn = append(drawn, e); return nil })
	if err != nil {
		return nil, err
	}
	ticket := func(e suspects.Suspect) []byte { sum := sha256.Sum256([]byte(e.Path)); return sum[:] }
	slices.SortFunc(drawn, func(a, b suspects.Suspect) int { return bytes.Compare(ticket(a), ticket(b)) })
	each := func(yield func(suspects.Suspect) error) (bool, error) {
		for i, e := range drawn[:min(n, len(drawn))] {
			e.Rank, e.Flagged, e.Outlier, e.Copies, e.CopyGroup, e.Problems = i+1, true, false, nil, 0, nil
			if err := yield(e); err != nil {
				return true, err
			}
		}
		return true, nil
	}
	t, err := newTable(d, each, auditFile, manifestFile)
	if err != nil {
		return nil, err
	}
	t.drawn = true
	return &Audit{t}, nil
}

// describeShare returns an estimate of the share of wrong labels from randomly drawn images; "" before any decision.
func (s share) describeShare() string {
	if s.Judged == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d images drawn at random have a wrong label: %.0f to %.0f %% of all labels are wrong, "+
		"with 95 %% confidence", s.Wrong, s.Judged, 100*s.Low, 100*s.High)
}
