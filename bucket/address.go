// Package bucket reads the objects of a bucket as files. It speaks the protocol of Amazon's S3, which many other
// servers and Google Cloud Storage understand too; for Google it can use Google's own tokens. Objects are written
// and removed as a whole ([Tree.Put]).
//
// Reading a file from its start takes one request. ReadAt fetches blocks, which are cached; if reads are
// sequential, several blocks are fetched at once. A request that breaks off is resumed where it broke.
package bucket

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"winnow/datasets/location"
)

// Address is the location of objects: s3://BUCKET/KEY or gs://BUCKET/KEY, with options after a question mark.
type Address struct {
	Scheme, Bucket string
	Key            string // of an object or a folder, without leading and trailing slashes
	options        string // as given, with the question mark
}

// The options of an address take precedence over the environment.
const (
	endpointOption  = "endpoint"   // a server other than the default
	regionOption    = "region"     // the bucket's region
	profileOption   = "profile"    // the profile in the credentials files
	anonymousOption = "anonymous"  // "true": send no credentials
	pathOption      = "path_style" // "true": put the bucket's name in the path, not in the host
)

var options = []string{anonymousOption, endpointOption, pathOption, profileOption, regionOption}

// Parse parses an address.
func Parse(name string) (Address, error) {
	a, err := parse(name)
	if err != nil {
		return a, fmt.Errorf("%s: %w", name, err)
	}
	return a, nil
}

func parse(name string) (a Address, err error) {
	scheme, rest, given := location.Cut(name)
	at, key, _ := strings.Cut(rest, "/")
	a = Address{Scheme: strings.TrimSuffix(scheme, "://"), Bucket: at, Key: strings.Trim(path.Clean("/"+key), "/"),
		options: given}
	if scheme == "" {
		return a, fmt.Errorf("not an object-store address, expected %s://BUCKET/KEY or %s://BUCKET/KEY", location.S3,
			location.Google)
	}
	if at == "" {
		return a, errors.New("found no bucket, expected " + scheme + "BUCKET/KEY")
	}
	if strings.ContainsAny(at, "@: ") {
		return a, fmt.Errorf("found the bucket %q, expected only a name: credentials come from the environment, "+
			"another server from ?endpoint=", at)
	}
	values, err := url.ParseQuery(strings.TrimPrefix(given, "?"))
	if err != nil {
		return a, fmt.Errorf("options: %w", err)
	}
	for option := range values {
		if !slices.Contains(options, option) {
			return a, fmt.Errorf("found the option %q, expected one of %s", option, strings.Join(options, ", "))
		}
	}
	return a, nil
}

// option returns an option's value.
func (a Address) option(name string) string {
	values, _ := url.ParseQuery(strings.TrimPrefix(a.options, "?")) // valid: parse checked them
	return values.Get(name)
}

// root returns the bucket's address, without options.
func (a Address) root() string { return a.Scheme + "://" + a.Bucket }
