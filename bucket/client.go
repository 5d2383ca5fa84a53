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

// usual is how requests are made.
var usual = settings{patience: 20 * time.Second, attempts: 5, pause: 200 * time.Millisecond, getenv: os.Getenv, google: googleTokens}

// settings say how requests are made.
type settings struct {
	patience time.Duration // how long a server may be silent
	attempts int           // at a request, and at what is left of one that broke off
	pause    time.Duration // after a first attempt; it doubles with each, up to longestPause
	getenv   func(string) string
	google   func(ctx context.Context, getenv func(string) string) (oauth2.TokenSource, error) // nil tokens where nobody is logged in
}

const longestPause = 5 * time.Second

// wait waits before another attempt, from 1.
func (s settings) wait(ctx context.Context, attempt int) error {
	timer := time.NewTimer(min(s.pause<<(attempt-1), longestPause))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// clients are the buckets that this process has opened, by their addresses without keys: they share connections, what is
// known of objects and the blocks that were read.
var clients struct {
	sync.Mutex
	open map[Address]*client
}

// client is a bucket.
type client struct {
	settings
	root    string // its address
	name    string
	signed  string // whose credentials requests are signed with, in words
	region  string // that was asked for; "": found out
	host    string
	core    minio.Core
	mu      sync.Mutex
	objects *kept[string, *object]
	blocks  *kept[blockID, *block]
}

// mostObjects is how many objects are remembered by size and version, some 300 bytes each: as many as a pattern of shards may name.
const mostObjects = 1 << 17

// clientOf returns the client of a bucket.
func clientOf(ctx context.Context, a Address) (*client, error) {
	a.Key = ""
	clients.Lock()
	defer clients.Unlock()
	if c := clients.open[a]; c != nil {
		return c, nil
	}
	c, err := newClient(ctx, a, usual)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.root(), err)
	}
	if clients.open == nil {
		clients.open = map[Address]*client{}
	}
	clients.open[a] = c
	return c, nil
}

// newClient makes a client; it asks nobody anything yet, but for the tokens of Google.
func newClient(ctx context.Context, a Address, s settings) (*client, error) {
	c := &client{settings: s, root: a.root(), name: a.Bucket,
		objects: newKept[string, *object](mostObjects), blocks: newKept[blockID, *block](mostBlocks)}
	o := &minio.Options{MaxRetries: s.attempts}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: s.patience, KeepAlive: s.patience}).DialContext,
		TLSHandshakeTimeout:   s.patience,
		ResponseHeaderTimeout: s.patience,
		MaxIdleConnsPerHost:   256,
		IdleConnTimeout:       time.Minute,
		DisableCompression:    true, // bytes are counted
	}
	o.Transport = transport
	endpoint := a.option(endpointOption)
	var err error
	if a.Scheme == location.Google {
		endpoint = cmp.Or(endpoint, s.getenv("STORAGE_EMULATOR_HOST"), "https://storage.googleapis.com")
		o.Region = "auto"
		err = c.asGoogle(ctx, a, o, transport)
	} else {
		endpoint = cmp.Or(endpoint, s.getenv("AWS_ENDPOINT_URL_S3"), s.getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
		o.Region = cmp.Or(a.option(regionOption), s.getenv("AWS_REGION"), s.getenv("AWS_DEFAULT_REGION"))
		c.asAmazon(a, o)
	}
	if err != nil {
		return nil, err
	}
	if c.host, o.Secure, err = endpointOf(endpoint); err != nil {
		return nil, err
	}
	c.region = o.Region
	if a.option(pathOption) == "true" {
		o.BucketLookup = minio.BucketLookupPath
	}
	made, err := minio.New(c.host, o)
	c.core = minio.Core{Client: made}
	return c, err
}
