package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"

	"winnow/internal/atomicfile"
	"winnow/internal/regular"
	"winnow/train/samples"
)

// WriteSamples replaces the file of the losses and scores of a run's samples.
func WriteSamples(dir string, list iter.Seq[samples.Sample]) error {
	err := atomicfile.Write(filepath.Join(dir, SamplesFile), func(w io.Writer) error { return samples.Write(w, list) })
	if err != nil {
		return fmt.Errorf("train: %s: %w", SamplesFile, err)
	}
	return nil
}

// ReadSamples reads the losses and scores of a run's samples; nil if it kept none.
func ReadSamples(dir string) ([]samples.Sample, error) {
	path := filepath.Join(dir, SamplesFile)
	f, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	defer f.Close()
	if err := Intact(dir, SamplesFile); err != nil {
		return nil, err
	}
	list, err := samples.Read(f)
	if err != nil {
		return nil, fmt.Errorf("audit: %s: %w", path, err)
	}
	return list, nil
}
