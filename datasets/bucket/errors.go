package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"

	"winnow/internal/regular"
)

// errSilent is the cause of a request that was given up because the server was silent.
var errSilent = errors.New("nothing came")

// explainKeyError turns an error about a key into a one-line error. If the object does not exist or has changed, the
// error concerns this object alone; anything else is an outage.
func (c *client) explainKeyError(ctx context.Context, op, key string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	at := strings.TrimSuffix(c.root+"/"+key, "/")
	answer := minio.ErrorResponse{}
	if !errors.As(err, &answer) {
		return &regular.Outage{Err: fmt.Errorf("%s: %w", at, c.explainSilence(err))}
	}
	outage := func(format string, args ...any) error {
		return &regular.Outage{Err: fmt.Errorf("%s: %w", at, fmt.Errorf(format, args...))}
	}
	switch code := answer.Code; {
	case code == minio.NoSuchBucket:
		return outage("found no such bucket at %s", c.host)
	case c.isOtherRegion(answer):
		where := cmp.Or(answer.Region, "another region")
		return outage("the bucket is in %s, but the request went to %s: set AWS_REGION, or ?region=%s in the address",
			where, cmp.Or(c.region, "the default region"), cmp.Or(answer.Region, "REGION"))
	case code == minio.NoSuchKey || answer.StatusCode == http.StatusNotFound:
		return &fs.PathError{Op: op, Path: at, Err: fs.ErrNotExist}
	case code == minio.PreconditionFailed || answer.StatusCode == http.StatusPreconditionFailed:
		c.forgetObject(key)
		return &fs.PathError{Op: op, Path: at, Err: errors.New("it changed while being read: try again")}
	case answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusUnauthorized:
		may := "read and list the bucket"
		if op == "put" || op == "remove" {
			may = "write to the bucket"
		}
		return outage("access denied (%s) with %s: expected credentials that may %s", cmp.Or(code, answer.Message),
			c.signed, may)
	}
	return outage("%s answered %d %s after %d attempts: %s", c.host, answer.StatusCode, answer.Code, c.attempts,
		answer.Message)
}

// isOtherRegion reports whether the server redirects to another region.
func (c *client) isOtherRegion(answer minio.ErrorResponse) bool {
	switch answer.Code {
	case minio.AuthorizationHeaderMalformed, minio.InvalidRegion, "PermanentRedirect",
		"IllegalLocationConstraintException":
		return true
	}
	return answer.StatusCode == http.StatusMovedPermanently || answer.Region != "" && c.region != "" &&
		answer.Region != c.region
}

// explainSilence explains why there was no answer.
func (c *client) explainSilence(err error) error {
	var inURL *url.Error
	switch {
	case errors.Is(err, errSilent), errors.As(err, &inURL) && inURL.Timeout():
		return fmt.Errorf("%s was silent for %v in each of %d attempts", c.host, c.patience, c.attempts)
	case inURL != nil:
		return fmt.Errorf("no answer from %s after %d attempts: %w", c.host, c.attempts, inURL.Err)
	}
	return err
}
