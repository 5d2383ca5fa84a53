package review

import (
	"strings"
	"testing"
)

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
	if text := w.read("fixed.csv"); strings.Contains(text, "Cat") || strings.Contains(text, "Dog") {
		t.Errorf("a name is written")
	}
}
