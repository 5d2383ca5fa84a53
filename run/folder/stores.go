package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"winnow/features"
	"winnow/internal/lock"
	"winnow/run/extraction"
)

// TunedStorePrefix begins the names of the stores of a fine-tuned network's features.
const TunedStorePrefix = "features-"

// removeTunedStores removes the stores of its network that commands made in a run's folder.
func removeTunedStores(dir string) error {
	found, err := filepath.Glob(filepath.Join(dir, TunedStorePrefix+"????????*"))
	if err != nil {
		return err
	}
	for _, store := range found {
		s, err := features.Open(store)
		if err != nil {
			continue // not finished: perhaps not ours
		}
		if err := removeStore(s); err != nil {
			return err
		}
	}
	return nil
}

// NoteStale tells which images of a store are gone or changed since their vectors were made.
func NoteStale(ctx context.Context, s *features.Store, note func(format string, args ...any)) error {
	stale, err := extraction.Stale(ctx, s)
	if err == nil && stale != "" {
		note("%s: repeat the winnow extract with the images that are there", stale)
	}
	return err
}

// removeStore removes a store's files and its folder, which should hold nothing else.
func removeStore(s *features.Store) error {
	for _, file := range append(s.Files(), filepath.Join(s.Dir, extraction.SeenFile), filepath.Join(s.Dir, lock.Name)) {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("features: %w", err)
		}
	}
	if err := os.Remove(s.Dir); err != nil {
		return fmt.Errorf("features: %w", err)
	}
	return nil
}
