package ortlib

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// NPM is the npm client, or an error that says how to do without.
func NPM() (string, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", fmt.Errorf("ortlib: the npm client is not there (%w); install it, or give a local archive or folder with --from", err)
	}
	return npm, nil
}

// fetch downloads a package's tarball into a folder through the npm client, which knows the user's registry
// and proxy. Nothing of the tarball is believed yet.
func fetch(ctx context.Context, p npmPackage, folder string) (string, error) {
	npm, err := NPM()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, npm, "pack", "--loglevel=error", p.Name+"@"+p.Version)
	cmd.Dir = folder
	cmd.WaitDelay = 5 * time.Second // npm's own children may hold its pipes after it was killed
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("ortlib: npm pack %s@%s: %w: %s", p.Name, p.Version, err, firstLine(complaint.String()))
	}
	tarball := filepath.Join(folder, p.tarball())
	if _, err := os.Stat(tarball); err != nil {
		return "", fmt.Errorf("ortlib: npm pack %s@%s: found no %s, expected npm to write it", p.Name, p.Version, p.tarball())
	}
	return tarball, nil
}

// check holds a tarball against the pin.
func (p npmPackage) check(path string) error {
	sum, err := sha256File(path)
	if err != nil {
		return err
	}
	if sum != p.SHA256 {
		return fmt.Errorf("%s: found sha256 %s, expected %s", filepath.Base(path), sum, p.SHA256)
	}
	return nil
}

// firstLine is what a program complained about, in one line; npm's warnings about its settings are not it.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "npm warn") {
			return line
		}
	}
	return "no further word"
}
