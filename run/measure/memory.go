package measure

import (
	"cmp"
	"fmt"

	"winnow/features"
	"winnow/head"
	"winnow/internal/budget"
	"winnow/run/folder"
)

// Memory in bytes.
const (
	answered  = 64     // for the retrieval results of each image
	neighbour = 100    // for each retrieved image
	weighed   = 26 * 8 // for each weight of softmax regression during the fit
)

// countHeldMemory returns the memory needed to compare images of a run, with one vector of width values for each image.
func countHeldMemory(r *folder.Run, of folder.Asked[features.Stored], width int) budget.Use {
	n, gallery := of.Query.Len(), of.Query.Len()
	if of.Gallery != nil {
		gallery = of.Gallery.Len()
		n += gallery
	}
	if of.Fit != nil {
		n += of.Fit.Len()
	}
	return budget.Use{
		What:   fmt.Sprintf("%s: %d images of %d values", cmp.Or(r.For, "eval"), n, width),
		Beside: int64(len(r.Manifest.Samples))*budget.Named + int64(n)*int64(4*width+answered),
		Row:    int64(4 * gallery),
	}
}

// Similarities returns how many bytes of the command's memory limit are left for similarities. The command embeds the
// images for one row of the comparison at a time and computes the metrics. Metrics other than retrieval copy vectors.
func (i Images) Similarities(r *folder.Run, metrics []Metric, memory int64) (int64, error) {
	stored := i.Train.Dim()
	width := max(stored, r.Head.Config().Out)
	use := countHeldMemory(r, i.Now, width)
	use.Other = int64(len(r.Manifest.Samples))*budget.Named + head.Need(i.Train.Len(), stored, width)
	copied := 0
	for _, m := range metrics {
		if m.Name != retrievalMetric {
			copied = i.Now.Query.Len()
		}
	}
	if i.Now.Fit != nil {
		copied = max(copied, i.Now.Fit.Len())
		use.Beside += int64(weighed*width) * int64(len(r.Manifest.Classes))
	}
	use.Beside += int64(4*width) * int64(copied)
	return use.Similarities(memory)
}
