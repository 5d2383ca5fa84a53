package models

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// The list shows which files exist, which can be fetched, and which users must export.
func TestListed(t *testing.T) {
	r := open(t, filepath.Join(t.TempDir(), "models.json"))
	want := map[string]string{"glyphnet": "part of winnow|trained with it",
		"googlenet-bvlc": "not here|on photographs", "resnet50-v2-7": "get: 102 MB|publisher's word",
		"inception-v2-9": "get: 45 MB|assumed", "resnet50": "export it|publisher's word",
		"dinov3-small": "get: 86 MB|publisher's word", "siglip2-base": "get: 372 MB|publisher's word"}
	for _, m := range r.List() {
		how, _, _ := strings.Cut(m.Checked, ":")
		if expected, ok := want[m.Name]; ok && m.Place()+"|"+how != expected {
			t.Errorf("%s: found %q and %q, expected %s", m.Name, m.Place(), how, expected)
		}
		if m.Published != nil && (m.Published.Total() < 1_000_000 || m.SHA256 == "") {
			t.Errorf("%s: %+v", m.Name, m.Published)
		}
	}
	list := r.List()
	if list[len(list)-1].Name != "glyphnet" || list[0].Why != "learned without labels" {
		t.Errorf("found the list from %s (%s) to %s, expected the best first", list[0].Name, list[0].Why,
			list[len(list)-1].Name)
	}
	if pub, _ := entryOf(t, r, "dinov3-small").Published(); pub.Terms == "" || pub.Total() != 137_969+86_347_776 {
		t.Errorf("dinov3-small: found %+v, expected terms and two files", pub)
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
	for _, b := range readKnown() {
		if b.Instead == "" {
			continue
		}
		if pub, ok := entryOf(t, r, b.Instead).Published(); !ok || len(pub.Places) == 0 || b.SHA256 != "" {
			t.Errorf("instead of %s: %s can not be fetched", b.Name, b.Instead)
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
