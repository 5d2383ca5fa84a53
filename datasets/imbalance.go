package datasets

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

// leastUneven is the least ratio of large to small classes at which evenly drawn ones were measured to pay
// (docs/log/2026-11.md, "Classes of uneven sizes"): sizes that fall evenly from n to n/10 have 6.3.
const leastUneven = 6

// Uneven are the train split's classes where they differ in size so much that drawing all equally often pays.
type Uneven struct {
	Small int `json:"small"` // images of a class that a tenth of the classes fall short of
	Large int `json:"large"` // and of one that a tenth exceed
	// Known is how many of them another split has, too: it pays for these, not for classes that were not trained on.
	Known int `json:"known"`
}

// uneven returns nil where drawing classes equally often was not found to pay.
func (r *CheckReport) uneven() *Uneven {
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

func (u *Uneven) write(w io.Writer) {
	fmt.Fprintf(w, "train classes have from %d to %d images, tenths at both ends aside, and %d of them are looked for: winnow train --set sampler.balance=0 finds small ones more often\n", u.Small, u.Large, u.Known)
}
