package published

import (
	"context"
	"fmt"
	"io"

	"winnow/datasets"
	"winnow/datasets/location"
)

// JoinedFiles is the result of [JoinFiles].
type JoinedFiles struct {
	LeftOut  int                  `json:"left_out"` // training images that are not in the list
	Noise    datasets.NoiseReport `json:"train_noise"`
	Warnings []string             `json:"warnings"`

	joined *datasets.Dataset
}

// JoinFiles joins a clean manifest and a list with [Join], and writes the manifest out.
func JoinFiles(ctx context.Context, manifest location.Source, list, out string,
	note func(format string, args ...any)) (r JoinedFiles, err error) {
	clean, err := datasets.Read(manifest, datasets.ReadOptions{Once: ctx, Note: note})
	if err != nil {
		return r, err
	}
	labels, err := ReadListFile(list)
	if err != nil {
		return r, err
	}
	j, err := Join(clean, labels)
	if err != nil {
		return r, fmt.Errorf("join: %s: %w", list, err)
	}
	r = JoinedFiles{j.NotListed, j.Dataset.Noise(datasets.Train), append([]string{}, j.Warnings...), j.Dataset}
	return r, datasets.WriteFile(out, j.Dataset, nil)
}

// Write writes a summary as text, with warnings to errs.
func (r JoinedFiles) Write(w, errs io.Writer) {
	r.joined.WriteCounts(w)
	if r.LeftOut > 0 {
		fmt.Fprintf(w, "%-10s %7d training images, which are not in the list\n", "left out", r.LeftOut)
	}
	r.Noise.Write(w, datasets.Train)
	for _, text := range r.Warnings {
		fmt.Fprintf(errs, "winnow: warning: %s\n", text)
	}
}
