package models

import (
	"fmt"
	"os"
	"path/filepath"

	"winnow/internal/hint"
)

// OpenDefault opens the user's registry: $WINNOW_MODELS, or models.json in the user's configuration folder. It also
// looks for model files in the folders of $WINNOW_MODEL_DIRS.
func OpenDefault() (*Registry, error) {
	path := os.Getenv("WINNOW_MODELS")
	if path == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil, hint.With(fmt.Errorf("models: %w", err),
				"set WINNOW_MODELS to a file for your registry of backbones")
		}
		path = filepath.Join(dir, "winnow", "models.json")
	}
	return Open(path, filepath.SplitList(os.Getenv("WINNOW_MODEL_DIRS"))...)
}
