package bucket

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"winnow/datasets/location"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"golang.org/x/oauth2"
)

// machineWait is how long to wait for the machine's metadata server, which exists only inside a cloud.
const machineWait = 2 * time.Second

// asAmazon signs requests with the credentials that Amazon's own tools would find: from the environment, a
// profile's file, or the role of a container or machine.
func (c *client) asAmazon(at location.Source, o *minio.Options) {
	if at.Option(location.Anonymous) == "true" {
		c.signed, o.Creds = "no credentials, as anonymous=true asks",
			credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
		return
	}
	profile := at.Option(location.Profile)
	file := &credentials.FileAWSCredentials{Profile: profile}
	chain := []credentials.Provider{&credentials.EnvAWS{}, file}
	if profile != "" { // the profile in the address overrides the environment
		chain = []credentials.Provider{file}
	}
	if c.getenv("AWS_EC2_METADATA_DISABLED") != "true" {
		chain = append(chain, &credentials.IAM{Client: &http.Client{Timeout: machineWait}})
	}
	switch {
	case profile != "":
		c.signed = "those of the profile " + profile
	case c.getenv("AWS_ACCESS_KEY_ID") != "":
		c.signed = "those of AWS_ACCESS_KEY_ID"
	case c.getenv("AWS_PROFILE") != "":
		c.signed = "those of the profile " + c.getenv("AWS_PROFILE")
	default:
		c.signed = "those of the default profile or of the machine's role, or none"
	}
	o.Creds = credentials.NewChainCredentials(chain)
}

// asGoogle sends Google's tokens, which Google's storage accepts with the S3 protocol too.
func (c *client) asGoogle(ctx context.Context, at location.Source, o *minio.Options, plain http.RoundTripper) error {
	o.Creds = credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
	c.signed = "no credentials"
	if at.Option(location.Anonymous) == "true" || c.getenv("STORAGE_EMULATOR_HOST") != "" {
		return nil
	}
	tokens, err := c.google(ctx, c.getenv)
	if err != nil {
		return fmt.Errorf("credentials of Google: %w", err)
	}
	if tokens != nil {
		o.Transport, c.signed = &oauth2.Transport{Source: tokens, Base: plain}, "Google's default credentials"
	}
	return nil
}

// endpointOf returns the host of a server's address and whether to use TLS.
func endpointOf(address string) (host string, secure bool, err error) {
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return "", false, fmt.Errorf("endpoint: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "":
		return "", false, fmt.Errorf("found the endpoint %q, expected http://HOST:PORT or https://HOST", u.Redacted())
	}
	return u.Host, u.Scheme == "https", nil
}
