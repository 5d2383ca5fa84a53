package term

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"context"
)

// TestClaim: a command replaces what it wrote, also edited, and refuses a file of somebody else's, whatever it holds.
func TestClaim(t *testing.T) {
	ListFile = filepath.Join(t.TempDir(), "written")
	t.Cleanup(func() { ListFile = "" })
	t.Chdir(t.TempDir())
	write := func(fails bool, args ...string) string {
		read := func(c *cli.Context) (string, error) { return c.String("out"), nil }
		call := func(_ context.Context, _ *Program, out string) error {
			if fails {
				return os.ErrInvalid
			}
			return os.WriteFile(out, []byte("path,label\na,b\n"), 0o644)
		}
		group := []Group{{Commands: []*cli.Command{{Name: "make", Action: Action(read, call),
			Flags: []cli.Flag{&cli.StringFlag{Name: "out", Usage: "`FILE`"}}}}}}
		var out bytes.Buffer
		Execute(t.Context(), group, append([]string{"winnow", "make"}, args...), &out, &out)
		return out.String()
	}
	edit := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	edit("mine.csv", "path,label\na,b\n")
	edit("empty.csv", "")
	for _, name := range []string{"new.csv", "empty.csv"} {
		for range 2 {
			if said := write(false, "--out", name); said != "" {
				t.Errorf("%s: %s", name, said)
			}
			edit(name, "path,label\na,edited\n")
		}
	}
	if said := write(false, "--out", "mine.csv"); !strings.Contains(said, "was not written by winnow") ||
		!strings.Contains(said, "--overwrite") {
		t.Errorf("mine.csv: %q", said)
	}
	if said := write(true, "--out", "failed.csv"); said == "" {
		t.Error("failed.csv: expected the command's error")
	}
	edit("failed.csv", "mine")
	if said := write(false, "--out", filepath.Join(".", "failed.csv")); !strings.Contains(said, "was not written") {
		t.Errorf("failed.csv, which winnow never wrote: %q", said)
	}
	for range 2 { // --overwrite makes it winnow's
		if said := write(false, "--out", "mine.csv", "--overwrite"); said != "" {
			t.Errorf("--overwrite: %s", said)
		}
	}
	if said := write(false, "--out", "mine.csv"); said != "" {
		t.Errorf("after --overwrite: %s", said)
	}
}
