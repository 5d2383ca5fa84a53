package plain_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"winnow/internal/plain"
)

// what the standard library says in its own words
var library = []string{"openat", "statat", "stat ", "open ", "read ", "zip:", "json:", "strconv", "EOF",
	"invalid character", "unmarshal", "escapes from", "is a directory", "not a directory",
	"unexpected end", "token too long", "Go value", "record on", "parse error"}

// Errors as the standard library makes them, as they are and behind the words of a room.
func TestText(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	if err := os.WriteFile(file, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("..", filepath.Join(dir, "up")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	failed := func(_ any, err error) error { return err }
	parsed := func(text string) error {
		var v struct {
			N    int `json:"n"`
			List []struct {
				Name string `json:"name"`
			} `json:"list"`
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		return d.Decode(&v)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{failed(os.Open(filepath.Join(dir, "none"))), filepath.Join(dir, "none") + ": no such file or directory"},
		{failed(os.Stat(filepath.Join(file, "b"))), filepath.Join(file, "b") + ": a part of the path is a file"},
		{failed(os.ReadFile(dir)), dir + ": is a folder, expected a file"},
		{failed(os.Stat("")), "the name of a file is empty"},
		{failed(root.Stat("../x")), "../x: leads out of its folder"},
		{failed(root.Open("up/x")), "up/x: leads out of its folder"},
		{failed(zip.NewReader(bytes.NewReader([]byte("junk")), 4)), "is no .zip file"},
		{failed(io.ReadFull(strings.NewReader("a"), make([]byte, 2))), "ends early"},
		{failed(strconv.Atoi("x7")), `found "x7", expected a whole number`},
		{failed(strconv.ParseInt(strings.Repeat("9", 30), 10, 64)), "expected a number of smaller size"},
		{failed(strconv.ParseFloat("1,5", 64)), `found "1,5", expected a number`},
		{failed(csv.NewReader(strings.NewReader("a,b\nc\n")).ReadAll()), "line 2: found another number of values"},
		{failed(csv.NewReader(strings.NewReader("a,\"b")).ReadAll()), "line 1: found a quote that does not end"},
		{parsed("junk"), "is no JSON: byte 1: found 'j'"},
		{parsed(`{"n":1`), "ends early"},
		{parsed(`{"n":"1"}`), "n: found a text, expected a whole number"},
		{parsed(`{"n":1.5}`), "n: found the number 1.5, expected a whole number"},
		{parsed(`{"list":{}}`), "list: found an object, expected a list"},
		{parsed(`{"list":[{"name":[]}]}`), "name: found a list, expected a text"},
		{parsed(`{"m":1}`), `found the key "m", which is unknown here`},
		{json.Unmarshal([]byte(`[1`), new([]int)), "ends early, at byte 2"},
		{bufio.ErrTooLong, "a line is too long: is its end missing?"},
	} {
		if c.err == nil {
			t.Fatalf("no error, expected %q", c.want)
		}
		for _, err := range []error{c.err, fmt.Errorf("room: EOF.zip: %w", c.err), errors.Join(errors.New("first"), c.err)} {
			got := plain.Text(err)
			if !strings.Contains(got, c.want) {
				t.Errorf("%v became %q, expected %q in it", err, got, c.want)
			}
			for _, word := range library {
				if strings.Contains(strings.ReplaceAll(got, "EOF.zip", ""), word) {
					t.Errorf("%v became %q, with %q of the library", err, got, word)
				}
			}
		}
	}
	for _, err := range []error{
		errors.New("room: a.csv:2: found 3 fields, expected 4"),
		fmt.Errorf("room: %s", "stat x"),
		uncomparable{"room: x"},
	} {
		if got := plain.Text(err); got != err.Error() {
			t.Errorf("%v became %q", err, got)
		}
	}
	named := fmt.Errorf("room: %s: %w", dir, failed(os.ReadFile(dir)))
	if got, want := plain.Text(named), "room: "+dir+": is a folder, expected a file"; got != want {
		t.Errorf("got %q, expected %q", got, want)
	}
}

type uncomparable []string

func (u uncomparable) Error() string { return u[0] }
