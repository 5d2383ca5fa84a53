package checking

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/internal/atomicfile"
	"winnow/internal/text"
	"winnow/parts"
)

// Job is the name of the parts that RunPart makes.
const Job = "data check"

// part is the result of checking a shard of the images.
type part struct {
	Manifest string // as a path that does not depend on the working folder
	Strict   bool
	Sums     [][sha256.Size]byte
	Reasons  []string // why an image cannot be read; "": it can
}

// RunPart decodes a shard of the images into a part of the file out, unless the part exists. With strict, the
// join fails as [Report.Strict] does.
func RunPart(ctx context.Context, o Options, h Host, out string, s parts.Shard, strict bool,
	winnow string) (parts.Made, error) {
	d, err := datasets.Read(o.Manifest, datasets.ReadOptions{Once: ctx, Note: h.Note})
	if err != nil {
		return parts.Made{}, err
	}
	manifest, err := o.Manifest.Absolute()
	if err != nil {
		return parts.Made{}, err
	}
	header, err := parts.NewHeader(Job, s, len(d.Samples), 1, "images", map[string]string{"manifest": d.Digest()},
		map[string]string{"root": o.Root.String(), "strict": fmt.Sprint(strict)}, winnow)
	if err != nil {
		return parts.Made{}, err
	}
	return parts.Make(ctx, out, header, parts.MakeValue(func() (part, error) {
		p := part{Manifest: manifest.String(), Strict: strict}
		look, err := o.look(ctx)
		if err != nil {
			return p, err
		}
		p.Sums, p.Reasons, err = d.Look(ctx, header.First, header.End, look, h.Progress)
		return p, err
	}))
}

// JoinParts reads the manifest again, reports on what all parts found, exactly as one machine would, and saves
// the report.
func JoinParts(ctx context.Context, w *parts.Whole, o parts.JoinOptions) (parts.Result, error) {
	list, err := parts.Values[part](w)
	if err != nil {
		return nil, err
	}
	manifest := location.At(list[0].Manifest)
	d, err := datasets.Read(manifest, datasets.ReadOptions{Once: ctx, Note: o.Note})
	if err != nil {
		return nil, err
	}
	if sum := d.Digest(); sum != w.Inputs["manifest"] {
		return nil, fmt.Errorf("data check: %s: changed since its images were checked: found %.12s…, expected %.12s…",
			manifest, sum, w.Inputs["manifest"])
	}
	var sums [][sha256.Size]byte
	var reasons []string
	for _, p := range list {
		sums, reasons = append(sums, p.Sums...), append(reasons, p.Reasons...)
	}
	r := Report{d.Report(sums, reasons), d}
	if err := r.Save(w.Out); err != nil || !list[0].Strict {
		return r, err
	}
	return r, r.Strict()
}

// Save writes the report to a JSON file, or does nothing if file is "".
func (r Report) Save(file string) error {
	if file == "" {
		return nil
	}
	return atomicfile.Write(file, func(w io.Writer) error { return text.JSON(w, r) })
}
