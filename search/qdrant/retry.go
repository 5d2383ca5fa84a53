package qdrant

import (
	"context"
	"errors"
	"fmt"
	"time"

	client "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"winnow/search/vectordb"
)

// transient reports whether repeating the request may help.
func transient(c codes.Code) bool {
	switch c {
	case codes.Unavailable, codes.ResourceExhausted, codes.DeadlineExceeded, codes.Aborted:
		return true
	}
	return false
}

// try makes a request and repeats it if that may help. Each try may take limit.
func (s *Server) try(ctx context.Context, what string, limit time.Duration, request func(context.Context) error) error {
	return s.tries.Do(ctx, limit, request, func(err error) *vectordb.RequestError {
		code, least := reason(err)
		text := err.Error()
		var answer interface{ GRPCStatus() *status.Status }
		if errors.As(err, &answer) {
			text = answer.GRPCStatus().Message()
		}
		var busy *client.QdrantResourceExhaustedError
		if errors.As(err, &busy) {
			text = busy.Reason
		}
		return &vectordb.RequestError{Message: fmt.Sprintf("qdrant: %s: %s: %s (%s)", s.address, what, text, code),
			Least: least, Err: err,
			Refused: code == codes.Unauthenticated || code == codes.PermissionDenied, NoAnswer: transient(code)}
	})
}

// reason returns the code of an error, and how long the server asks to be left alone.
func reason(err error) (codes.Code, time.Duration) {
	if busy, ok := errors.AsType[*client.QdrantResourceExhaustedError](err); ok {
		return codes.ResourceExhausted, time.Duration(min(max(busy.RetryAfterS, 0), 120)) * time.Second
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return codes.DeadlineExceeded, 0
	}
	return status.Code(err), 0
}
