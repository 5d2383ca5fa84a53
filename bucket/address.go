// Package bucket reads the objects of a bucket as files: of Amazon's S3 and all that speak its protocol, and of Google's Cloud
// Storage, which speaks it too and takes Google's own tokens. Objects are put and removed whole ([Tree.Put]).
//
// A file is read from its beginning by one request, and from anywhere by blocks, which are kept and, where one follows the
// other, fetched several at once. A request that breaks off goes on where it broke.
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

// Address is where objects lie: s3://BUCKET/KEY or gs://BUCKET/KEY, with options behind a question mark.
type Address struct {
	Scheme, Bucket string
	Key            string // of an object, or of a folder of them, without slashes at its ends
	options        string // as they were given
}

// The options of an address, which go before what the environment says.
const (
	endpointOption  = "endpoint"   // of another server than the usual one
	regionOption    = "region"     // of the bucket
	profileOption   = "profile"    // of the files that credentials are taken from
	anonymousOption = "anonymous"  // true: no credentials
	pathOption      = "path_style" // true: the bucket's name stands in the path and not before the host
)

var options = []string{anonymousOption, endpointOption, pathOption, profileOption, regionOption}

// Parse takes an address apart.
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
	a = Address{Scheme: strings.TrimSuffix(scheme, "://"), Bucket: at, Key: strings.Trim(path.Clean("/"+key), "/"), options: given}
	if scheme == "" {
		return a, fmt.Errorf("is no address in an object store, expected %s://BUCKET/KEY or %s://BUCKET/KEY", location.S3, location.Google)
	}
	if at == "" {
		return a, errors.New("names no bucket, expected " + scheme + "BUCKET/KEY")
	}
	if strings.ContainsAny(at, "@: ") {
		return a, fmt.Errorf("found the bucket %q, expected a name alone: credentials come from the environment, another server is named by ?endpoint=", at)
	}
	values, err := url.ParseQuery(strings.TrimPrefix(given, "?"))
	if err != nil {
		return a, fmt.Errorf("its options: %w", err)
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
	values, _ := url.ParseQuery(strings.TrimPrefix(a.options, "?")) // parsed before
	return values.Get(name)
}

// root is the address of the bucket, without options.
func (a Address) root() string { return a.Scheme + "://" + a.Bucket }
