package bench

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A table grows by rows and is read as it was written; half a row is an error that names the file.
func TestTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.csv")
	if _, err := ReadTable(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	columns := []string{"set", "value"}
	for _, rec := range [][]string{{"cub, 20 %", "0.5"}, {"mnist", ""}} {
		if err := AppendRow(path, columns, rec); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := ReadTable(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]map[string]string{{"set": "cub, 20 %", "value": "0.5"}, {"set": "mnist", "value": ""}}, rows); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(path, []byte("set,value\ncub\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadTable(path); err == nil || !strings.Contains(err.Error(), "results.csv: ") {
		t.Errorf("half a row: %v", err)
	}
}

// What the program prints is measured; what it says where it fails is in the error.
func TestProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "winnow")
	script := `#!/bin/sh
[ "$3" = 2 ] || exit 3
case "$4" in
eval) echo '{"precision_at_1": 0.75, "map_at_r": 0.5, "frozen": {"precision_at_1": 0.25}, "whitened": {"map_at_r": 0.125}}' ;;
*) echo "no such run" >&2; exit 1 ;;
esac
`
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	p := Program{Path: path, Threads: "2"}
	m, err := p.Eval(context.Background(), "run")
	if err != nil {
		t.Fatal(err)
	}
	if want := (Measured{Score: Score{0.75, 0.5}, Frozen: Score{P1: 0.25}, Whitened: Score{MAP: 0.125}}); m != want {
		t.Errorf("%+v, expected %+v", m, want)
	}
	if _, err := p.Call(context.Background(), "train"); err == nil || !strings.Contains(err.Error(), "--threads 2 train: exit status 1\nno such run") {
		t.Errorf("%v", err)
	}
}
