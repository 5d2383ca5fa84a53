package datasets

import (
	"fmt"
	"strings"
)

// EverySplit as a split's name means all of them.
const EverySplit = "all"

// Choose finds the samples of the splits named, with commas between, in the order of the manifest.
func (d *Dataset) Choose(splits string) (at []int, err error) {
	wanted := map[string]bool{}
	for name := range strings.SplitSeq(splits, ",") {
		if name = strings.TrimSpace(name); name != EverySplit && len(d.Select(name)) == 0 {
			return nil, fmt.Errorf("--split: the manifest has no images in %q; it has %s", name, d.SplitNames())
		}
		wanted[name] = true
	}
	for i := range d.Samples {
		if wanted[EverySplit] || wanted[d.Samples[i].Split] {
			at = append(at, i)
		}
	}
	return at, nil
}
