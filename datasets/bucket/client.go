package bucket

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"winnow/datasets/location"

	"github.com/minio/minio-go/v7"
	"golang.org/x/oauth2"
)

// usual are the default settings.
var usual = settings{patience: 20 * time.Second, attempts: 5, pause: 200 * time.Millisecond, getenv: os.Getenv,
	google: googleTokens}

// settings say how requests are made.
type settings struct {
	patience time.Duration // how long a server may stay silent
	attempts int           // of a request; reset when a broken answer makes progress
	pause    time.Duration // after the first attempt; doubles with each, up to longestPause
	getenv   func(string) string
	// google returns Google's tokens, nil if nobody is logged in.
	google func(ctx context.Context, getenv func(string) string) (oauth2.TokenSource, error)
}

const longestPause = 5 * time.Second

// waitAfter sleeps after the given attempt, counted from 1.
func (s settings) waitAfter(ctx context.Context, attempt int) error {
	timer := time.NewTimer(min(s.pause<<(attempt-1), longestPause))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// clients holds the buckets that this process has opened, by address without key. All users of a bucket share its
// connections, object metadata and cached blocks.
var clients struct {
	sync.Mutex
	open map[location.Source]*client
}

// client is an open bucket.
type client struct {
	settings
	root    string // the bucket's address
	name    string
	signed  string // the source of the credentials, in words
	region  string // the region asked for; "" if it is to be found out
	host    string
	core    minio.Core
	mu      sync.Mutex
	objects *kept[string, *object]
	blocks  *kept[blockID, *block]
}

// mostObjects is how many objects' sizes and versions are remembered, some 300 bytes each: as many as one shard
// pattern may name.
const mostObjects = 1 << 17

// makeBucketAddress returns the address of a bucket, without options.
func makeBucketAddress(at location.Source) string { return at.Scheme() + "://" + at.Bucket() }

// clientOf returns the client of a bucket and makes it on the first call.
func clientOf(ctx context.Context, at location.Source) (*client, error) {
	at = at.With(at.Bucket())
	clients.Lock()
	defer clients.Unlock()
	if c := clients.open[at]; c != nil {
		return c, nil
	}
	c, err := newClient(ctx, at, usual)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", makeBucketAddress(at), err)
	}
	if clients.open == nil {
		clients.open = map[location.Source]*client{}
	}
	clients.open[at] = c
	return c, nil
}

// newClient makes a client. It sends no request except, for Google, the one for a token.
func newClient(ctx context.Context, at location.Source, s settings) (*client, error) {
	c := &client{settings: s, root: makeBucketAddress(at), name: at.Bucket(),
		objects: newKept[string, *object](mostObjects), blocks: newKept[blockID, *block](mostBlocks)}
	o := &minio.Options{MaxRetries: s.attempts}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: s.patience, KeepAlive: s.patience}).DialContext,
		TLSHandshakeTimeout:   s.patience,
		ResponseHeaderTimeout: s.patience,
		MaxIdleConnsPerHost:   256,
		IdleConnTimeout:       time.Minute,
		DisableCompression:    true, // Content-Length must be the object's size
	}
	o.Transport = transport
	endpoint := at.Option(location.Endpoint)
	var err error
	if at.Scheme() == location.Google {
		endpoint = cmp.Or(endpoint, s.getenv("STORAGE_EMULATOR_HOST"), "https://storage.googleapis.com")
		o.Region = "auto"
		err = c.asGoogle(ctx, at, o, transport)
	} else {
		endpoint = cmp.Or(endpoint, s.getenv("AWS_ENDPOINT_URL_S3"), s.getenv("AWS_ENDPOINT_URL"),
			"https://s3.amazonaws.com")
		o.Region = cmp.Or(at.Option(location.Region), s.getenv("AWS_REGION"), s.getenv("AWS_DEFAULT_REGION"))
		c.asAmazon(at, o)
	}
	if err != nil {
		return nil, err
	}
	if c.host, o.Secure, err = endpointOf(endpoint); err != nil {
		return nil, err
	}
	c.region = o.Region
	if at.Option(location.PathStyle) == "true" {
		o.BucketLookup = minio.BucketLookupPath
	}
	made, err := minio.New(c.host, o)
	c.core = minio.Core{Client: made}
	return c, err
}
