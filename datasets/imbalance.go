package datasets

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

// leastUneven is the smallest ratio of large to small classes at which drawing classes equally often was measured
// to pay off (docs/log/2026-11.md, "Classes of uneven sizes"). Sizes that fall evenly from n to n/10 have a ratio
// of 6.3.
const leastUneven = 6

// Uneven describes the train split's classes if their sizes differ so much that drawing all equally often pays off.
type Uneven struct {
	Small int `json:"small"` // 10th percentile of images per class
	Large int `json:"large"` // 90th percentile
	// Known is how many of the classes another split has too. It pays off for these, not for classes that were not
	// trained on.
	Known int `json:"known"`
}

// newUneven returns nil if drawing classes equally often was not found to pay off.
func (r *CheckReport) newUneven() *Uneven {
	known := slices.Max(append(slices.Collect(maps.Values(r.Shared)), 0))
	for _, s := range r.Splits {
		if s.Split != Train || s.Classes < 2 {
			continue
		}
		sizes := slices.Sorted(maps.Values(s.Labels))
		tenth := len(sizes) / 10
		small, large := sizes[tenth], sizes[len(sizes)-1-tenth]
		if known > 0 && large >= leastUneven*small {
			return &Uneven{small, large, known}
		}
	}
	return nil
}

func (u *Uneven) writeUneven(w io.Writer) {
	fmt.Fprintf(w, "train classes have %d to %d images (10th to 90th percentile), and %d of them are in other "+
		"splits too: winnow train --set sampler.balance=0 finds small ones more often\n", u.Small, u.Large, u.Known)
}
