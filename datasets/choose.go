package datasets

import (
	"fmt"
	"strings"
)

// EverySplit is the name that stands for all splits.
const EverySplit = "all"

// Choose returns the positions of the samples in the named, comma-separated splits, in the order of the manifest.
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
