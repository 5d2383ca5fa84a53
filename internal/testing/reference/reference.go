// Package reference provides reference data for tests: golden values computed elsewhere ($WINNOW_GOLDEN, else
// ../shared/golden if it exists, else the copy committed here), and real models and images ($WINNOW_ASSETS, default
// ../shared/assets), which are not in the repository. If models or images are missing, a test is skipped with a
// message; with CI=true it fails.
package reference

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Case is one golden case; its fields are read by name.
type Case struct {
	Topic, Name, Method string
	Fields              map[string]json.RawMessage
	Params              map[string]any
}

// Root returns the repository's folder: the nearest parent of the working directory whose go.mod declares the module
// winnow. Other modules are nested inside it.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(mod), "module winnow\n") {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("reference: winnow's go.mod is not above the working directory")
		}
		dir = parent
	}
}

// Asset returns the path of a file in the assets folder. If it is missing, the test is skipped (with CI=true, fails).
func Asset(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("WINNOW_ASSETS")
	if dir == "" {
		dir = filepath.Join(Root(t), "..", "shared", "assets")
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		message := fmt.Sprintf("reference: %s is missing: set WINNOW_ASSETS to the folder that contains %s", path, name)
		if os.Getenv("CI") == "true" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	return path
}

// Has reports whether the case has a field that is not null.
func (c Case) Has(key string) bool {
	raw, ok := c.Fields[key]
	return ok && string(raw) != "null"
}

// Decode reads a field into v.
func (c Case) Decode(t testing.TB, key string, v any) {
	t.Helper()
	raw, ok := c.Fields[key]
	if !ok {
		t.Fatalf("reference: %s: %s: no field %q", c.Topic, c.Name, key)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatalf("reference: %s: %s: %s: %v", c.Topic, c.Name, key, err)
	}
}

// Float reads a number, which may be "Inf", "-Inf" or "NaN".
func (c Case) Float(t testing.TB, key string) float64 {
	t.Helper()
	var n Number
	c.Decode(t, key, &n)
	return float64(n)
}

// Floats reads a list of numbers.
func (c Case) Floats(t testing.TB, key string) []float64 {
	t.Helper()
	var list []Number
	c.Decode(t, key, &list)
	return floats(list)
}

// Ints reads a list of integers.
func (c Case) Ints(t testing.TB, key string) []int {
	t.Helper()
	var list []int
	c.Decode(t, key, &list)
	return list
}

// Matrix reads a list of rows.
func (c Case) Matrix(t testing.TB, key string) [][]float64 {
	t.Helper()
	var rows [][]Number
	c.Decode(t, key, &rows)
	out := make([][]float64, len(rows))
	for i := range rows {
		out[i] = floats(rows[i])
	}
	return out
}

func floats(list []Number) []float64 {
	out := make([]float64, len(list))
	for i, n := range list {
		out[i] = float64(n)
	}
	return out
}

// Param reads a numeric parameter, which may be "Inf", "-Inf" or "NaN". It returns otherwise if the parameter is
// missing or null. For any other value it returns NaN, which no check accepts.
func (c Case) Param(name string, otherwise float64) float64 {
	switch v := c.Params[name].(type) {
	case nil:
		return otherwise
	case float64:
		return v
	case string:
		if x, err := strconv.ParseFloat(v, 64); err == nil {
			return x
		}
	}
	return math.NaN()
}

// Number is a float64 that may be written as "Inf", "-Inf" or "NaN"; null is NaN.
type Number float64

// UnmarshalJSON reads a number or one of these words.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	text := string(b)
	if b[0] == '"' {
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	*n = Number(v)
	return err
}
