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

// TunedStorePrefix is the start of the names of feature stores by a fine-tuned network.
const TunedStorePrefix = "features-"

// removeTunedStores removes the feature stores by the fine-tuned network that commands made in a run's folder.
func removeTunedStores(dir string) error {
	found, err := filepath.Glob(filepath.Join(dir, TunedStorePrefix+"????????*"))
	if err != nil {
		return err
	}
	for _, store := range found {
		s, err := features.Open(store)
		if err != nil {
			continue // unfinished, or no feature store
		}
		if err := removeStore(s); err != nil {
			return err
		}
	}
	return nil
}

// NoteStale notes how many images of a store are missing or changed since their vectors were computed.
func NoteStale(ctx context.Context, s *features.Store, note func(format string, args ...any)) error {
	stale, err := extraction.Stale(ctx, s)
	if err == nil && stale != "" {
		note("%s: run winnow extract again with the present images", stale)
	}
	return err
}

// removeStore removes a store's files, and then its folder, which should be empty.
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
