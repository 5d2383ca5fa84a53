package review

import (
	"context"

	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/report/review/decisions"
)

// Outcomes returns what the decisions in a file come to ([decisions.ReadOutcomes]), without those about pictures that
// have changed since, if the images are at hand.
func Outcomes(ctx context.Context, file string, root, manifest location.Source) (*datasets.Checks, error) {
	images, err := imageroot.OpenClosed(ctx, imageroot.Resolve(root, manifest))
	if err != nil {
		images = nil
	}
	return decisions.ReadOutcomes(file, images)
}
