package main

import (
	"github.com/urfave/cli/v2"

	"winnow/features"
)

// checkAudit refuses flags that mean nothing, before anything is read for minutes.
func checkAudit(c *cli.Context) error {
	if s := c.Float64("copies"); !(s > 0 && s <= 1) {
		return misused("--copies: found %v, expected a cosine above 0, at most 1", s)
	}
	if n := c.Int("neighbours"); n < 1 {
		return misused("--neighbours: found %d, expected 1 or more", n)
	}
	if n := c.Int("folds"); n < 2 {
		return misused("--folds: found %d, expected 2 or more", n)
	}
	if n := c.Int("top"); n < 0 {
		return misused("--top: found %d, expected 0 or more", n)
	}
	if p := c.Float64("noise-rate"); c.IsSet("noise-rate") && !(p >= 0 && p < 1) {
		return misused("--noise-rate: found %v, expected a share from 0 to below 1", p)
	}
	return checkClean(c)
}

// checkWritten refuses to write two things to one file, and anything over the manifest that is judged: the labels as
// they were would be lost.
func checkWritten(c *cli.Context, manifest string) error {
	var to []exportFile
	for _, flag := range []string{"out", "classes", "clean"} {
		if path := c.String(flag); path != "" {
			to = append(to, exportFile{Flag: flag, Path: path})
		}
	}
	return checkTargets(to, []string{manifest})
}

// checkSwapped tells a feature store given as the manifest, which would be read as a folder of images.
func checkSwapped(c *cli.Context) error {
	if manifest := c.String("manifest"); isStore(manifest) {
		return misused("--labels: %s is a feature store, expected a manifest: --features %s --labels FILE", manifest, manifest)
	}
	return nil
}

// isStore says whether a folder holds a feature store.
func isStore(dir string) bool {
	_, err := features.Open(dir)
	return err == nil
}
