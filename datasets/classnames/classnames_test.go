package classnames

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets"
)

// read returns the dataset of a manifest given as text.
func read(t *testing.T, manifest string) *datasets.Dataset {
	t.Helper()
	file := filepath.Join(t.TempDir(), "m.csv")
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := datasets.ReadFile(file, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const twoCranes = "path,label\na.jpg,n1\nb.jpg,n2\nc.jpg,n3\n"

// TestReadNames reads names by class; a name shared by two classes gets the class appended.
func TestReadNames(t *testing.T) {
	d, dir := read(t, twoCranes), t.TempDir()
	file := filepath.Join(dir, "names.csv")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("\ufeffid,Name, class\n1,crane,n1\n2,\" Maillot, one piece\",n3\n3,crane,n2\n")
	names, err := Read(file, d.Classes)
	if diff := cmp.Diff(Names{"n1": "crane (n1)", "n2": "crane (n2)", "n3": "Maillot, one piece"},
		names); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for _, text := range []string{"", "class,label\nn1,x\n", "class,name\nn1,x\nn9,y\n",
		"class,name\nn1,x\nn2,z\nn1,y\n", "class,name\nn1,\n", "class,name\nn1,\"a\nb\"\n", "class,name\nn1,\xff\n",
		"class,name\nn1,x,y\n", "class,name\nn1,\"x\n"} {
		write(text)
		if _, err := Read(file, d.Classes); err == nil || !strings.Contains(err.Error(), file) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// TestManifestNames takes the names from a column of the manifest, unless the column gives a class two names.
func TestManifestNames(t *testing.T) {
	for text, want := range map[string]Names{
		twoCranes: nil,
		"path,label,class_name\na.jpg,1,cat\nb.jpg,2,dog\nc.jpg,1,cat\nd.jpg,2,\n": {"1": "cat", "2": "dog"},
		"path,label,Label_Name\na.jpg,1,cat\nb.jpg,2,cat\n":                        {"1": "cat (1)", "2": "cat (2)"},
		"path,label\na.jpg,U+0024_dollar_sign\nb.jpg,U+0024\nc.jpg,x\n": {"U+0024_dollar_sign": "$ dollar sign",
			"U+0024": "$"},
	} {
		names, why, err := Choose("", read(t, text))
		if diff := cmp.Diff(want, names); diff != "" || why != "" || err != nil {
			t.Errorf("%q: %s %q %v", text, diff, why, err)
		}
	}
	names, why, err := Choose("", read(t, "path,label,class_name\na.jpg,1,cat\nb.jpg,1,dog\n"))
	if names != nil || !strings.Contains(why, `the column class_name gives class "1" the name "dog" and `+
		"another one") || err != nil {
		t.Errorf("%v, %q, %v", names, why, err)
	}
}

// FuzzNames checks that no file of names causes a panic, and that accepted names can be displayed.
func FuzzNames(f *testing.F) {
	for _, seed := range []string{"class,name\nn1,x\n", "", "class,name\nn1,\"x\n",
		"\ufeffname,class\nx,n1\nx,n2\n", "\"0\n0\"\n"} {
		f.Add(seed)
	}
	file := filepath.Join(f.TempDir(), "names.csv")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		names, err := Read(file, []string{"n1", "n2"})
		if err == nil && len(names) > 2 || err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, %v", names, err)
		}
	})
}
