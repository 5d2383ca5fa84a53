package reference

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every file of the golden folder is a topic, and every method in it belongs to a package that is there.
func TestGoldenTopicsAreKnown(t *testing.T) {
	folder := os.Getenv("WINNOW_GOLDEN")
	if folder == "" {
		folder = filepath.Dir(find(t, "WINNOW_GOLDEN", "golden", "prism.json"))
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files in %s (%v)", folder, err)
	}
	for _, file := range files {
		topic := strings.TrimSuffix(filepath.Base(file), ".json")
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
	for name, want := range map[string]float64{"a": 2.5, "inf": math.Inf(1), "low": math.Inf(-1), "none": 7, "missing": 7} {
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
