// Package location describes where files and folders are. A [Source] is a path on this machine, also given as a file://
// address, or an address in an object store. Addresses are parsed once, where the user or a file gives them; all other
// code uses the Source. Contexts cancel the requests to a store.
//
// Stores are read as a [Tree]. The package contains no client of a store, so programs that need none link none. [Use]
// registers a store, as the command line does (winnow/datasets/bucket).
package location

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The schemes of addresses in object stores.
const (
	S3     = "s3"
	Google = "gs"
)

// The options of an address in an object store. They take precedence over the environment.
const (
	Endpoint  = "endpoint"   // a server other than the default
	Region    = "region"     // the bucket's region
	Profile   = "profile"    // the profile in the credentials files
	Anonymous = "anonymous"  // "true": send no credentials
	PathStyle = "path_style" // "true": put the bucket's name in the path, not in the host
)

var options = []string{Anonymous, Endpoint, PathStyle, Profile, Region}

// Source is the location of a file or folder, or a name pattern for several files. Sources are comparable. The zero
// value is no location.
type Source struct {
	scheme  string // "" for this machine
	path    string // path on this machine, or BUCKET/KEY
	options string // options of an object store, as given, with the question mark
	err     error  // why the source cannot be opened
}

// Parse returns the source for a name given by the user: a path, file://PATH, s3://BUCKET/KEY or gs://BUCKET/KEY; the
// last two may have options after a question mark. "-" is standard input.
func Parse(name string) (Source, error) {
	s := At(name)
	return s, s.err
}

// At is [Parse] for a name that is opened soon: opening the source returns the error of an invalid name.
func At(name string) Source {
	scheme, rest, ok := strings.Cut(name, "://")
	switch {
	case ok && scheme == "file":
		inner := strings.TrimPrefix(rest, "localhost")
		if plain, err := url.PathUnescape(inner); err == nil && strings.HasPrefix(inner, "/") {
			return Source{path: filepath.FromSlash(plain)}
		}
	case ok && (scheme == S3 || scheme == Google):
		inner, options := cutOptions(rest)
		s := Source{scheme: scheme, path: inner, options: options}
		if err := s.checkAddress(); err != nil {
			s.err = fmt.Errorf("%s: %w", name, err)
		}
		return s
	case ok && len(scheme) > 1 && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz") == "":
		return Source{scheme: scheme, path: rest, err: fmt.Errorf("%s: found the scheme %s, expected a path, file://, "+
			"s3:// or gs://", name, scheme)}
	}
	return Source{path: name}
}

// All returns the sources of names, as [At] does.
func All(names []string) []Source {
	list := make([]Source, len(names))
	for i, name := range names {
		list[i] = At(name)
	}
	return list
}

// checkAddress returns an error if an address in an object store is invalid.
func (s Source) checkAddress() error {
	name := s.Bucket()
	if name == "" {
		return fmt.Errorf("found no bucket, expected %s://BUCKET/KEY", s.scheme)
	}
	if strings.ContainsAny(name, "@: ") {
		return fmt.Errorf("found the bucket %q, expected a bare name: set credentials in the environment, "+
			"and another server with ?endpoint=", name)
	}
	values, err := url.ParseQuery(strings.TrimPrefix(s.options, "?"))
	if err != nil {
		return fmt.Errorf("options: %w", err)
	}
	for option := range values {
		if !slices.Contains(options, option) {
			return fmt.Errorf("found the option %q, expected one of %s", option, strings.Join(options, ", "))
		}
	}
	return nil
}

// cutOptions splits the options, with their question mark, from an address. A question mark may also be a wildcard, so
// it only starts options if it is followed by a name and "=".
func cutOptions(name string) (address, given string) {
	at := strings.LastIndexByte(name, '?')
	if at < 0 {
		return name, ""
	}
	if option, _, ok := strings.Cut(name[at+1:], "="); !ok || strings.ContainsAny(option, "/*[{.") {
		return name, ""
	}
	return name[:at], name[at:]
}

// String returns the path or address; "" for the zero value.
func (s Source) String() string {
	if s.scheme == "" {
		return s.path
	}
	return s.scheme + "://" + s.path + s.options
}

// IsZero reports whether s is the zero value.
func (s Source) IsZero() bool { return s == Source{} }

// IsRemote reports whether a source is in an object store.
func (s Source) IsRemote() bool { return s.scheme != "" }

// IsZip reports whether a source has the name of a zip file, which is read as a folder.
func (s Source) IsZip() bool { return strings.EqualFold(s.Ext(), ".zip") }

// Path returns the path on this machine or, in an object store, BUCKET/KEY.
func (s Source) Path() string { return s.path }

// With returns the source with another [Source.Path] on the same machine or in the same object store.
func (s Source) With(path string) Source { return Source{s.scheme, path, s.options, s.err} }

// Scheme returns [S3] or [Google], "" for a source on this machine.
func (s Source) Scheme() string { return s.scheme }

// Bucket returns the bucket of an object store's address.
func (s Source) Bucket() string {
	name, _, _ := strings.Cut(s.path, "/")
	return name
}

// Key returns the key of an object store's address without slashes at the ends; "" is the whole bucket.
func (s Source) Key() string {
	_, key, _ := strings.Cut(s.path, "/")
	return strings.Trim(path.Clean("/"+key), "/")
}

// Option returns an option of an object store's address.
func (s Source) Option(name string) string {
	values, _ := url.ParseQuery(strings.TrimPrefix(s.options, "?")) // valid: checkAddress has parsed the options
	return values.Get(name)
}

// Join returns the source of a slash-separated path inside a folder.
func (s Source) Join(name string) Source {
	if s.IsRemote() {
		return s.With(path.Join(s.path, name))
	}
	return s.With(filepath.Join(s.path, filepath.FromSlash(name)))
}

// Parent returns the folder that contains a source. A bucket is its own parent.
func (s Source) Parent() Source {
	switch {
	case !s.IsRemote():
		return s.With(filepath.Dir(s.path))
	case !strings.Contains(s.path, "/"):
		return s
	}
	return s.With(path.Dir(s.path))
}

// Base returns the last element of the path.
func (s Source) Base() string { return filepath.Base(s.path) }

// Ext returns the extension of the last element of the path, starting with its last dot.
func (s Source) Ext() string { return filepath.Ext(s.path) }

// Rel returns the slash-separated path from folder s to a source below it.
func (s Source) Rel(below Source) (string, error) {
	if s.IsRemote() {
		return strings.TrimPrefix(below.path, path.Clean(s.path)+"/"), nil
	}
	rel, err := filepath.Rel(s.path, below.path)
	return filepath.ToSlash(rel), err
}

// Clean returns the source in its shortest form, like [filepath.Clean].
func (s Source) Clean() Source {
	if s.IsRemote() {
		return s.With(path.Clean(s.path))
	}
	return s.With(filepath.Clean(s.path))
}

// Absolute returns a source that does not depend on the working folder.
func (s Source) Absolute() (Source, error) {
	if s.IsRemote() || s.IsZero() {
		return s, nil
	}
	path, err := filepath.Abs(s.path)
	return s.With(path), err
}

// MarshalText implements [encoding.TextMarshaler].
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler], as [At] does.
func (s *Source) UnmarshalText(text []byte) error {
	*s = At(string(text))
	return nil
}

// GobEncode implements [encoding/gob.GobEncoder].
func (s Source) GobEncode() ([]byte, error) { return s.MarshalText() }

// GobDecode implements [encoding/gob.GobDecoder], as [At] does.
func (s *Source) GobDecode(text []byte) error { return s.UnmarshalText(text) }
