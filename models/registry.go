package models

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"winnow/internal/atomicfile"
	"winnow/internal/lock"
	"winnow/internal/regular"
)

// Registry holds the known backbones and the user's backbones, which are stored in a JSON file.
type Registry struct {
	path    string
	folders []string
	user    []Entry
}

// registryVersion is the version of the registry file's format. Version 1 recorded exif, but always turned images.
const registryVersion = 2

// registryFile is the JSON form of the file.
type registryFile struct {
	Version int     `json:"version"`
	Models  []Entry `json:"models"`
}

// Open reads a user's registry. A file that does not exist is an empty registry. The files of entries that give a
// bare name are searched in folders, in order.
func Open(path string, folders ...string) (*Registry, error) {
	r := &Registry{path: path, folders: folders}
	return r, r.readRegistry()
}

func (r *Registry) readRegistry() error {
	data, err := regular.ReadFile(r.path, regular.Most)
	if errors.Is(err, fs.ErrNotExist) {
		r.user = nil
		return nil
	}
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	if r.user, err = parseRegistry(data); err != nil {
		return fmt.Errorf("models: %s: %w", r.path, err)
	}
	return nil
}

func parseRegistry(data []byte) ([]Entry, error) {
	var file registryFile
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.New("is empty or cut short, expected a list of models")
	} else if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("found more after the list of models, expected its end")
	}
	if file.Version < 1 || file.Version > registryVersion {
		return nil, fmt.Errorf("found version %d, expected 1 to %d", file.Version, registryVersion)
	}
	seen := map[string]bool{}
	for i, e := range file.Models {
		if err := checkName(e.Name); err != nil {
			return nil, fmt.Errorf("model %d: %w", i+1, err)
		}
		if seen[e.Name] {
			return nil, fmt.Errorf("model %d: the name %q appears twice", i+1, e.Name)
		}
		seen[e.Name] = true
		if e.File == "" || e.SHA256 == "" {
			return nil, fmt.Errorf("model %q: found no file or no sha256, expected both", e.Name)
		}
		if err := e.Preprocessing.Validate(); err != nil {
			return nil, fmt.Errorf("model %q: %w", e.Name, err)
		}
		file.Models[i].Preprocessing.EXIF = e.Preprocessing.EXIF || file.Version < 2
	}
	return file.Models, nil
}

// Path returns the path of the user's registry.
func (r *Registry) Path() string { return r.path }

// Entries returns all entries: first the known entries, replaced by entries of the user with the same name, then the
// user's other entries.
func (r *Registry) Entries() []Entry {
	all := knownEntries()
	for _, e := range r.user {
		if at := slices.IndexFunc(all, func(k Entry) bool { return k.Name == e.Name }); at >= 0 {
			all[at] = e
			continue
		}
		all = append(all, e)
	}
	return all
}

// Names returns the names of all entries.
func (r *Registry) Names() (list []string) {
	for _, e := range r.Entries() {
		list = append(list, e.Name)
	}
	return list
}

// Entry returns the entry of a name.
func (r *Registry) Entry(name string) (Entry, bool) {
	for _, e := range r.Entries() {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// Own reports whether an entry is the user's.
func (r *Registry) Own(name string) bool {
	return slices.ContainsFunc(r.user, func(e Entry) bool { return e.Name == name })
}

// Locate finds an entry's file: compiled in (path ""), at the recorded path, or in the folders.
func (r *Registry) Locate(e Entry) (path string, ok bool) {
	if !filepath.IsAbs(e.File) && compiledFiles()[e.File] != nil {
		return "", true
	}
	for _, p := range r.filePaths(e) {
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
			return p, true
		}
	}
	return "", false
}

// filePaths returns the paths at which an entry's file may be.
func (r *Registry) filePaths(e Entry) []string {
	if filepath.IsAbs(e.File) {
		return []string{e.File}
	}
	var list []string
	for _, dir := range r.folders {
		list = append(list, filepath.Join(dir, e.File))
	}
	return list
}

// addEntry adds an entry to the user's registry and writes the registry. The name must be free, or that of a known
// entry whose file the user provides.
func (r *Registry) addEntry(e Entry) error {
	if err := checkName(e.Name); err != nil {
		return err
	}
	held, err := r.lockRegistry()
	if err != nil {
		return err
	}
	defer held.Close()
	if r.Own(e.Name) {
		return fmt.Errorf("models: name %q is taken: remove it first (winnow models remove %s), or choose another "+
			"with --name", e.Name, e.Name)
	}
	for _, k := range knownEntries() {
		if k.Name == e.Name && (k.SHA256 != "" && k.SHA256 != e.SHA256 || compiledFiles()[k.File] != nil) {
			return fmt.Errorf("models: name %q belongs to a known model with sha256 %s, the file has %s: choose "+
				"another with --name", e.Name, orNone(k.SHA256), e.SHA256)
		}
	}
	return r.writeRegistry(append(slices.Clone(r.user), e))
}

func orNone(sum string) string {
	if sum == "" {
		return "(none)"
	}
	return sum
}

// Remove removes an entry from the user's registry. It does not delete the model file.
func (r *Registry) Remove(name string) error {
	held, err := r.lockRegistry()
	if err != nil {
		return err
	}
	defer held.Close()
	if !r.Own(name) {
		if _, ok := r.Entry(name); ok {
			return fmt.Errorf("models: %q is one of winnow's own entries, expected one you added", name)
		}
		return fmt.Errorf("models: %q: %s has no such entry", name, r.path)
	}
	return r.writeRegistry(slices.DeleteFunc(slices.Clone(r.user), func(e Entry) bool { return e.Name == name }))
}

// lockRegistry locks the registry until the lock is closed, and reads the entries that other programs have written.
func (r *Registry) lockRegistry() (io.Closer, error) {
	dir := filepath.Dir(r.path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	for wait := time.Millisecond; ; wait *= 2 {
		held, err := lock.Folder(dir)
		if _, busy := errors.AsType[*lock.Held](err); busy && wait < 4*time.Second {
			time.Sleep(wait)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("models: %w", err)
		}
		if err := r.readRegistry(); err != nil {
			return nil, errors.Join(err, held.Close())
		}
		return held, nil
	}
}

func (r *Registry) writeRegistry(user []Entry) error {
	data, err := json.MarshalIndent(registryFile{registryVersion, user}, "", "  ")
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	if err := atomicfile.WriteBytes(r.path, append(data, '\n')); err != nil {
		return fmt.Errorf("models: %w", err)
	}
	r.user = user
	return nil
}
