package embedding_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"winnow/internal/hint"
	"winnow/run/embedding"
	"winnow/run/folder"
	"winnow/search/vectordb"
)

// mute is a server that does not answer; whatever else it is asked panics.
type mute struct {
	vectordb.Store
	tries vectordb.Tries
}

func (m *mute) Tries() *vectordb.Tries { return &m.tries }

func (m *mute) Hello(context.Context) (string, error) {
	return "", &vectordb.RequestError{Message: "mute: nobody there", Err: errors.New("refused"), NoAnswer: true}
}

// A server that cannot be reached is told of before an image is looked at: the run here holds none.
func TestServerFirst(t *testing.T) {
	_, err := embedding.Upload{}.Run(t.Context(), &mute{}, &folder.Run{}, "test")
	if err == nil || !strings.Contains(err.Error(), "nobody there") || !strings.Contains(hint.Of(err),
		"is the server up") {
		t.Errorf("found %v (%s)", err, hint.Of(err))
	}
}
