package list

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"winnow/audit"
	"winnow/cmd/winnow/term"
	"winnow/eval"
	filtering "winnow/filters"
	loss "winnow/losses"
	recipe "winnow/run/recipes"
)

func runLine(t *testing.T, line string) (code int, stdout string) {
	t.Helper()
	var out bytes.Buffer
	all := []*cli.Command{Command()}
	code = term.Execute(t.Context(), all, strings.Fields("winnow "+line), &out, io.Discard)
	return code, out.String()
}

// TestCatalogs checks that every entry of every catalog is listed, and described with its settings.
func TestCatalogs(t *testing.T) {
	for name, entries := range map[string]int{"losses": len(loss.Catalog), "filters": len(filtering.Catalog),
		"metrics": len(eval.Catalog), "recipes": len(recipe.List()), "scorers": len(audit.Scorers)} {
		code, text := runLine(t, "list "+name)
		if lines := strings.Count(text, "\n"); code != 0 || lines != entries+1 {
			t.Errorf("list %s: exit code %d, %d lines, expected %d", name, code, lines, entries+1)
		}
		var list []struct {
			Name     string
			Settings []struct{ Doc string }
		}
		if _, text = runLine(t, "list "+name+" --json"); json.Unmarshal([]byte(text), &list) != nil ||
			len(list) != entries {
			t.Errorf("list %s --json: %d entries, expected %d", name, len(list), entries)
		}
		for _, e := range list {
			code, text := runLine(t, "list "+name+" "+strings.TrimSuffix(e.Name, " *"))
			if code != 0 || text == "" {
				t.Errorf("list %s %s: exit code %d", name, e.Name, code)
			}
			for _, s := range e.Settings {
				if s.Doc == "" || !strings.Contains(text, s.Doc) {
					t.Errorf("list %s %s does not describe a setting: %q", name, e.Name, s.Doc)
				}
			}
		}
	}
	if _, text := runLine(t, "list losses Soft-Triple"); !strings.Contains(text, "Qian") {
		t.Errorf("hyphens and capitals change the loss:\n%s", text)
	}
	for _, line := range []string{"list nix", "list losses nix", "list losses triplet circle", "losses triplet"} {
		if code, _ := runLine(t, line); code != 2 {
			t.Errorf("%s: exit code %d, expected 2", line, code)
		}
	}
}
