package review

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets"
)

// tableOf returns the table of a manifest's text.
func tableOf(t *testing.T, manifest string) *table {
	t.Helper()
	file := filepath.Join(t.TempDir(), "m.csv")
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := datasets.ReadFile(file, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	audit, err := joined(d, nil)
	if err != nil {
		t.Fatal(err)
	}
	return audit.table
}

const twoCranes = "path,label\na.jpg,n1\nb.jpg,n2\nc.jpg,n3\n"

// TestReadNames: names by class, those that two classes share with the class.
func TestReadNames(t *testing.T) {
	table, dir := tableOf(t, twoCranes), t.TempDir()
	file := filepath.Join(dir, "names.csv")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("\ufeffid,Name, class\n1,crane,n1\n2,\" Maillot, one piece\",n3\n3,crane,n2\n")
	names, err := readNames(file, table)
	if diff := cmp.Diff(map[string]string{"n1": "crane (n1)", "n2": "crane (n2)", "n3": "Maillot, one piece"},
		names); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for text, want := range map[string]string{
		"":                                           "is empty, expected a header class,name",
		"class,label\nn1,x\n":                        ":1: found the columns class,label, expected class and name",
		"class,name\nn1,x\nn9,y\n":                   `:3: no image is labelled "n9"`,
		"class,name\nn1,x\nn2,z\nn1,y\n":             `:4: class "n1" is named twice, first in line 2`,
		"class,name\nn1,\n":                          `:2: the name of class "n1" is empty`,
		"class,name\nn1,\"a\nb\"\n":                  "control character",
		"class,name\nn1,\xff\n":                      "not UTF-8",
		"class,name\nn1,x,y\n":                       "wrong number of fields",
		"class,name\nn1,\"x\n":                       "extraneous or missing",
		"class,name\nn1," + strings.Repeat("x", 201): "201 characters, expected at most 200",
	} {
		write(text)
		if _, err := readNames(file, table); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %v, expected %q", text, err, want)
		}
	}
	zero := filepath.Join(dir, "zero.csv")
	if err := os.Symlink("/dev/zero", zero); err != nil {
		t.Fatal(err)
	}
	if _, err := readNames(zero, table); err == nil || !strings.Contains(err.Error(), "is a device, expected a file") {
		t.Errorf("a device: %v", err)
	}
	if err := os.Truncate(file, mostNames+1); err != nil {
		t.Fatal(err)
	}
	if _, err := readNames(file, table); err == nil || !strings.Contains(err.Error(), "has more than 16777216 bytes") {
		t.Errorf("a large file: %v", err)
	}
}

// TestManifestNames: a column of the manifest names classes, unless it calls one by two names.
func TestManifestNames(t *testing.T) {
	for text, want := range map[string]map[string]string{
		twoCranes: nil,
		"path,label,class_name\na.jpg,1,cat\nb.jpg,2,dog\nc.jpg,1,cat\nd.jpg,2,\n": {"1": "cat", "2": "dog"},
		"path,label,Label_Name\na.jpg,1,cat\nb.jpg,2,cat\n":                        {"1": "cat (1)", "2": "cat (2)"},
	} {
		names, why := manifestNames(tableOf(t, text).manifest)
		if diff := cmp.Diff(want, names); diff != "" || why != "" {
			t.Errorf("%q: %s %q", text, diff, why)
		}
	}
	names, why := manifestNames(tableOf(t, "path,label,class_name\na.jpg,1,cat\nb.jpg,1,dog\n").manifest)
	const want = `The column class_name names class "1" both "cat" and "dog": labels are shown as they are`
	if names != nil || !strings.HasPrefix(why, want) {
		t.Errorf("%v, %q", names, why)
	}
}

// TestNamesStayOutside: names are only shown; requests, decisions and files use labels.
func TestNamesStayOutside(t *testing.T) {
	w := newWorld(t, 100)
	if _, err := w.reopened(func(c *Config) {
		c.Names = map[string]string{"class a": "Cat",
			"class b": "Dog"}
	}); err != nil {
		t.Fatal(err)
	}
	var s session
	w.must("GET", "/api/session", "", &s)
	if s.Classes[0].Name != "class a" || s.Classes[0].Called != "Cat" || s.Classes[2].Called != "" {
		t.Errorf("got %+v", s.Classes)
	}
	if status, _ := w.ask("GET", "/api/rows?class=Cat", "", nil); status != 400 {
		t.Errorf("a name is taken for a label: %d", status)
	}
	w.decide("t", 200, on(0, "relabel", other(w.list[0].Given), 0))
	w.must("POST", "/api/export", "{}", nil)
	if text := w.read("mended.csv"); strings.Contains(text, "Cat") || strings.Contains(text, "Dog") {
		t.Errorf("a name is written")
	}
}

// FuzzNames: no file of names causes a panic, and accepted names can be shown.
func FuzzNames(f *testing.F) {
	for _, seed := range []string{"class,name\nn1,x\n", "", "class,name\nn1,\"x\n",
		"\ufeffname,class\nx,n1\nx,n2\n", "\"0\n0\"\n"} {
		f.Add(seed)
	}
	file := filepath.Join(f.TempDir(), "names.csv")
	table := &table{classOf: map[string]int32{"n1": 0, "n2": 1}}
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		names, err := readNames(file, table)
		if err == nil && len(names) > 2 || err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, %v", names, err)
		}
	})
}
