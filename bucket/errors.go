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

// errSilent is the cause of a request that was given up since nothing came.
var errSilent = errors.New("nothing came")

// explain says in a line what went wrong with a key: an error of this object alone where it is not there or has changed, and
// else an outage.
func (c *client) explain(ctx context.Context, op, key string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	at := strings.TrimSuffix(c.root+"/"+key, "/")
	answer := minio.ErrorResponse{}
	if !errors.As(err, &answer) {
		return &regular.Outage{Err: fmt.Errorf("%s: %w", at, c.silence(err))}
	}
	outage := func(format string, args ...any) error {
		return &regular.Outage{Err: fmt.Errorf("%s: %w", at, fmt.Errorf(format, args...))}
	}
	switch code := answer.Code; {
	case code == minio.NoSuchBucket:
		return outage("found no bucket of this name at %s, expected one", c.host)
	case c.elsewhere(answer):
		where := cmp.Or(answer.Region, "another region")
		return outage("the bucket lies in %s and was asked for in %s: set AWS_REGION, or ?region=%s in the address", where, cmp.Or(c.region, "the usual one"), cmp.Or(answer.Region, "REGION"))
	case code == minio.NoSuchKey || answer.StatusCode == http.StatusNotFound:
		return &fs.PathError{Op: op, Path: at, Err: fs.ErrNotExist}
	case code == minio.PreconditionFailed || answer.StatusCode == http.StatusPreconditionFailed:
		c.forget(key)
		return &fs.PathError{Op: op, Path: at, Err: errors.New("it changed while it was read: try again")}
	case answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusUnauthorized:
		may := "read and list the bucket"
		if op == "put" || op == "remove" {
			may = "write to the bucket"
		}
		return outage("access denied (%s) with %s: expected credentials that may %s", cmp.Or(code, answer.Message), c.signed, may)
	}
	return outage("%s answered %d %s, and so at %d attempts: %s", c.host, answer.StatusCode, answer.Code, c.attempts, answer.Message)
}

// elsewhere reports whether a server sends to another region.
func (c *client) elsewhere(answer minio.ErrorResponse) bool {
	switch answer.Code {
	case minio.AuthorizationHeaderMalformed, minio.InvalidRegion, "PermanentRedirect", "IllegalLocationConstraintException":
		return true
	}
	return answer.StatusCode == http.StatusMovedPermanently || answer.Region != "" && c.region != "" && answer.Region != c.region
}

// silence says why there was no answer.
func (c *client) silence(err error) error {
	var inURL *url.Error
	switch {
	case errors.Is(err, errSilent), errors.As(err, &inURL) && inURL.Timeout():
		return fmt.Errorf("%s was silent for %v, and so at %d attempts", c.host, c.patience, c.attempts)
	case inURL != nil:
		return fmt.Errorf("no answer from %s at %d attempts: %w", c.host, c.attempts, inURL.Err)
	}
	return err
}
