package ortlib

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// InstallHint is the hint shown if ONNX Runtime is missing.
const InstallHint = "run: winnow runtime install"

// InstallOptions controls the installation. The zero value installs this machine's library from npm into the cache
// folder.
type InstallOptions struct {
	From   string            // archive (.tgz, .tar.gz) or library file; "": npm
	CUDA   bool              // also install the CUDA provider's libraries (linux/amd64)
	Force  bool              // install files again that exist
	Folder string            // destination; "": CacheFolder
	Note   func(fact string) // receives one line for each step; may be nil

	platform         platform // zero: the platform of this machine
	mainPkg, cudaPkg npmPackage
}

// Install installs ONNX Runtime's library, and with CUDA also the provider's libraries, and returns the path of the
// main library. It keeps files that exist. Each file is written into another folder, checked and then moved, so that an
// error leaves the earlier file intact and no partial file behind.
func Install(ctx context.Context, o InstallOptions) (string, error) {
	o, err := o.completeInstall()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(o.Folder, 0o755); err != nil {
		return "", fmt.Errorf("ortlib: install: %w", err)
	}
	main := FileNames(o.platform.OS)[0]
	path := filepath.Join(o.Folder, main)
	wanted := []string{main}
	if o.CUDA {
		wanted = append(wanted, providerShared, providerCUDA)
	}
	missing := slices.DeleteFunc(slices.Clone(wanted), func(name string) bool {
		info, err := os.Stat(filepath.Join(o.Folder, name))
		return !o.Force && err == nil && info.Mode().IsRegular()
	})
	if len(missing) == 0 {
		o.Note("already installed: " + path)
		return path, nil
	}
	if o.From != "" {
		for _, p := range []npmPackage{o.mainPkg, o.cudaPkg} { // a local copy of a pinned package
			if filepath.Base(o.From) == p.nameTarball() {
				if err := p.checkTarball(o.From); err != nil {
					return "", fmt.Errorf("ortlib: install: %w", err)
				}
			}
		}
		return path, o.unpackLibraries(ctx, o.From, missing)
	}
	return path, o.downloadMissing(ctx, missing)
}

// completeInstall sets the defaults and rejects impossible options.
func (o InstallOptions) completeInstall() (InstallOptions, error) {
	if o.platform == (platform{}) {
		o.platform = platform{runtime.GOOS, runtime.GOARCH}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.CUDA && o.platform != (platform{"linux", "amd64"}) {
		return o, fmt.Errorf("ortlib: install: found %v, expected linux/amd64 for the CUDA libraries", o.platform)
	}
	if o.Folder == "" {
		folder, err := CacheFolder()
		if err != nil {
			return o, err
		}
		o.Folder = folder
	}
	if o.mainPkg == (npmPackage{}) {
		o.mainPkg, o.cudaPkg = mainPackage, cudaPackage
	}
	return o, nil
}

// downloadMissing downloads the missing files from their npm packages.
func (o InstallOptions) downloadMissing(ctx context.Context, missing []string) error {
	work := filepath.Join(o.Folder, ".fetch") // on the same disk as the cache, because /tmp is often small
	if err := errors.Join(os.RemoveAll(work), os.Mkdir(work, 0o755)); err != nil {
		return fmt.Errorf("ortlib: install: %w", err)
	}
	defer os.RemoveAll(work)
	for _, p := range []npmPackage{o.mainPkg, o.cudaPkg} {
		part := slices.DeleteFunc(slices.Clone(missing), func(name string) bool {
			return (name == providerShared || name == providerCUDA) != (p == o.cudaPkg)
		})
		if len(part) == 0 {
			continue
		}
		o.Note(fmt.Sprintf("downloading %s@%s with npm", p.Name, p.Version))
		tarball, err := fetchPackage(ctx, p, work)
		if err != nil {
			return err
		}
		if err := p.checkTarball(tarball); err != nil {
			return fmt.Errorf("ortlib: install: %w", err)
		}
		if err := o.unpackLibraries(ctx, tarball, part); err != nil {
			return err
		}
		if err := os.Remove(tarball); err != nil { // the next tarball needs the space
			return fmt.Errorf("ortlib: install: %w", err)
		}
	}
	return nil
}
