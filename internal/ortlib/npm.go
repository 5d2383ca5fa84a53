package ortlib

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"winnow/internal/regular"
)

// NPM returns the path of the npm client, or an error that names an alternative.
func NPM() (string, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", fmt.Errorf("ortlib: the npm client is missing (%w); "+
			"install it, or give a local archive with --from", err)
	}
	return npm, nil
}

// fetchPackage downloads the tarball of a package into a folder with the npm client, which uses the user's registry and
// proxy. It does not check the tarball.
func fetchPackage(ctx context.Context, p npmPackage, folder string) (string, error) {
	npm, err := NPM()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, npm, "pack", "--loglevel=error", p.Name+"@"+p.Version)
	cmd.Dir = folder
	cmd.WaitDelay = 5 * time.Second // npm's child processes may hold its pipes after npm was killed
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("ortlib: npm pack %s@%s: %w: %s", p.Name, p.Version, err, firstLine(complaint.String()))
	}
	tarball := filepath.Join(folder, p.nameTarball())
	if _, err := os.Stat(tarball); err != nil {
		return "", fmt.Errorf("ortlib: npm pack %s@%s: found no %s, expected npm to write it",
			p.Name, p.Version, p.nameTarball())
	}
	return tarball, nil
}

// checkTarball checks the pinned sha256 of a tarball.
func (p npmPackage) checkTarball(path string) error {
	file, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return err
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != p.SHA256 {
		return fmt.Errorf("%s: found sha256 %s, expected %s", filepath.Base(path), sum, p.SHA256)
	}
	return nil
}

// firstLine returns the first line of a program's error output, except npm's warnings about its settings.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "npm warn") {
			return line
		}
	}
	return "no details"
}
