package imageroot

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/datasets/location"
)

// A repeated image is listed once per split, and a line reports it; two labels for one image are an error.
func TestListedAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"a.png": "", "b.png": "", "in/c.png": "",
		"same.csv": "path,label\na.png,x\nb.png,y\na.png,x\n", "other.csv": "path,label\na.png,y\n",
		"split.csv": "path,label,split\na.png,x,train\na.png,x,test\n",
		"query.csv": "path,label,split\na.png,x,query\na.png,x,gallery\n", "two.csv": "path,label\na.png,x\na.png,y\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ sources, stdin, want, told string }{
		{"same.csv", "", "a.png b.png", "1 row repeated"},
		{"same.csv other.csv", "", "", `labelled "x" and "y"`},
		{"two.csv", "", "", "two labels"},
		{"split.csv", "", "a.png a.png", "leak"},
		{"query.csv", "", "a.png a.png", ""},
		{"a.png b.png a.png", "", "a.png b.png", "1 image named repeatedly"},
		{"in in/c.png", "", "in/c.png", "named repeatedly"},
		{"-", "a.png\nb.png\nb.png\nb.png\n", "a.png b.png", "2 images named repeatedly"},
		{"same.csv same.csv", "", "a.png b.png", "2 images named repeatedly"},
		{"b.png a.png", "", "b.png a.png", ""},
	} {
		var told []string
		l, err := OpenList(t.Context(), location.All(strings.Fields(c.sources)), location.Source{},
			strings.NewReader(c.stdin), func(format string, args ...any) {
				told = append(told, fmt.Sprintf(format, args...))
			})
		if c.want == "" {
			if err == nil || !strings.Contains(err.Error(), c.told) {
				t.Errorf("%s: %v, expected %q", c.sources, err, c.told)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.sources, err)
			continue
		}
		if got := strings.Join(l.Paths(), " "); got != c.want || c.told == "" && len(told) > 0 ||
			!strings.Contains(strings.Join(told, "; "), c.told) {
			t.Errorf("%s: %s, told %q; expected %s and %q", c.sources, got, told, c.want, c.told)
		}
		if slices.Contains(strings.Fields(c.sources), "same.csv") && l.Images[0].Label != "x" {
			t.Errorf("%s: label %q", c.sources, l.Images[0].Label)
		}
	}
}
