package models

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// The list says which files exist, which can be fetched, and which must be exported.
func TestListed(t *testing.T) {
	r := open(t, filepath.Join(t.TempDir(), "models.json"))
	want := map[string]string{"glyphnet": "part of winnow|trained with it",
		"googlenet-bvlc": "not here|on photographs", "resnet50-v2-7": "get: 102 MB|publisher's word",
		"inception-v2-9": "get: 45 MB|assumed", "resnet50": "export it|publisher's word"}
	for _, m := range r.List() {
		how, _, _ := strings.Cut(m.Checked, ":")
		if expected, ok := want[m.Name]; ok && m.Place()+"|"+how != expected {
			t.Errorf("%s: found %q and %q, expected %s", m.Name, m.Place(), how, expected)
		}
		if m.Published != nil && (m.Published.Size < 1_000_000 || m.SHA256 == "") {
			t.Errorf("%s: %+v", m.Name, m.Published)
		}
	}
	var text strings.Builder
	rep, err := r.Inspect("resnet50-v2-7", Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := rep.Write(&text); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"102442450 bytes, at https://media.githubusercontent.com/media/onnx/models/",
		"winnow models get resnet50-v2-7"} {
		if !strings.Contains(text.String(), part) || strings.Contains(text.String(), "python") {
			t.Errorf("found\n%s\nexpected %q and no Python", text.String(), part)
		}
	}
	for name, other := range instead {
		if pub, ok := entryOf(t, r, other).Published(); !ok || len(pub.Places) == 0 ||
			entryOf(t, r, name).SHA256 != "" {
			t.Errorf("instead of %s: %s can not be fetched", name, other)
		}
	}
}

func entryOf(t *testing.T, r *Registry, name string) Entry {
	t.Helper()
	e, ok := r.Entry(name)
	if !ok {
		t.Fatal(fmt.Errorf("no entry %q", name))
	}
	return e
}
