package reference

import (
	"bytes"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Every file of the golden folder is a known topic, and every method in it belongs to an existing package.
func TestGoldenTopicsAreKnown(t *testing.T) {
	list := topics(t, goldenFolder(t))
	if len(list) == 0 {
		t.Fatal("no golden files")
	}
	for _, topic := range list {
		methods, ok := rooms[topic]
		if !ok {
			t.Errorf("topic %q is not known", topic)
			continue
		}
		for _, c := range Golden(t, topic) {
			if methods[c.Method] == "" {
				t.Errorf("%s: case %q: method %q is not known", topic, c.Name, c.Method)
			}
		}
	}
}

// The committed copy has every topic and equals ../shared/golden if that folder exists.
func TestGoldenCommitted(t *testing.T) {
	t.Setenv("WINNOW_GOLDEN", "")
	if list := topics(t, committed{}); !slices.Equal(list, slices.Sorted(maps.Keys(rooms))) {
		t.Errorf("found the topics %v, expected %v", list, slices.Sorted(maps.Keys(rooms)))
	}
	shared := sharedGolden(t)
	list := topics(t, shared)
	if len(list) == 0 {
		t.Skip("reference: ../shared/golden is missing: the committed golden values cannot be compared")
	}
	for _, topic := range list {
		want, err := fs.ReadFile(shared, topic+".json")
		if err != nil {
			t.Fatal(err)
		}
		got, err := fs.ReadFile(committed{}, topic+".json")
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes (%v), expected %d; see golden/README.md to renew the copy", topic, len(got),
				err, len(want))
		}
	}
}

func TestGoldenOrder(t *testing.T) {
	own := t.TempDir()
	if err := os.WriteFile(filepath.Join(own, "theory.json"),
		[]byte(`{"cases": [{"name": "mine", "method": "fp_fn"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WINNOW_GOLDEN", own)
	if c := Golden(t, "theory"); len(c) != 1 || c[0].Name != "mine" {
		t.Errorf("found %v", c)
	}
	t.Run("missing topic", func(t *testing.T) {
		t.Cleanup(func() {
			if !t.Skipped() {
				t.Error("a topic that the folder lacks was not skipped")
			}
		})
		Golden(t, "prism")
	})
	// A clone without ../shared reads the committed copy.
	t.Setenv("WINNOW_GOLDEN", "")
	clone := filepath.Join(own, "winnow")
	if err := os.Mkdir(clone, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(clone, "go.mod"), []byte("module winnow\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(clone)
	total := 0
	for _, topic := range topics(t, goldenFolder(t)) {
		total += len(Golden(t, topic))
	}
	if total != 624 {
		t.Errorf("found %d cases, expected 624", total)
	}
}

func TestTable(t *testing.T) {
	got := Table(map[string]map[string]int{"b": {"y": 2, "x": 1}, "a": {"z": 4}})
	want := "golden cases  ran  methods\n" +
		"a             4    z 4\n" +
		"b             3    x 1, y 2\n" +
		"all           7    \n"
	if got != want {
		t.Errorf("found\n%s, expected\n%s", got, want)
	}
}

func TestRoomsAreThere(t *testing.T) {
	for topic, methods := range rooms {
		for method, room := range methods {
			if _, err := os.Stat(filepath.Join(Root(t), filepath.FromSlash(room))); err != nil {
				t.Errorf("%s: %s: %v", topic, method, err)
			}
		}
	}
}

func TestParam(t *testing.T) {
	c := Case{Params: map[string]any{"a": 2.5, "inf": "Inf", "low": "-Inf", "none": nil, "word": "high", "flag": true}}
	for name, want := range map[string]float64{"a": 2.5, "inf": math.Inf(1), "low": math.Inf(-1), "none": 7,
		"missing": 7} {
		if got := c.Param(name, 7); got != want {
			t.Errorf("%s is %v, expected %v", name, got, want)
		}
	}
	for _, name := range []string{"word", "flag"} {
		if got := c.Param(name, 7); !math.IsNaN(got) {
			t.Errorf("%s is no number, and read as %v", name, got)
		}
	}
}
