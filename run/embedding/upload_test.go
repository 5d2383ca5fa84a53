package embedding_test

import (
	"net"
	"strings"
	"testing"

	"winnow/internal/hint"
	"winnow/run/embedding"
	"winnow/run/folder"
)

// A server that cannot be reached is reported before any image is embedded: the run here holds none.
func TestServerFirst(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "postgres://me@" + listener.Addr().String() + "/db?sslmode=disable"
	listener.Close()
	database, err := embedding.NewDatabase(address, "photos", "")
	if err != nil {
		t.Fatal(err)
	}
	server, err := database.Dial("")
	if err != nil {
		t.Fatal(err)
	}
	_, err = embedding.Upload{Database: database}.Run(t.Context(), server, &folder.Run{}, "test")
	if err == nil || !strings.Contains(err.Error(), "refused") || !strings.Contains(hint.Of(err), "is the server up") {
		t.Errorf("found %v (%s)", err, hint.Of(err))
	}
}

// Databases other than PostgreSQL are refused, with what to do instead.
func TestOtherDatabases(t *testing.T) {
	for address, want := range map[string]string{"http://localhost:6334": "--parquet", "https://db.example": "--npy",
		"localhost:6334": "", "mysql://db": ""} {
		_, err := embedding.NewDatabase(address, "photos", "")
		if err == nil || !strings.Contains(err.Error(), "expected postgres://") ||
			!strings.Contains(hint.Of(err), want) {
			t.Errorf("%s: found %v (%s)", address, err, hint.Of(err))
		}
	}
}
