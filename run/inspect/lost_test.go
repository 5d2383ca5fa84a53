package inspect

import (
	"strings"
	"testing"

	"winnow/datasets"
	"winnow/internal/lookup"
)

// A class is lost if none of its images could be read.
func TestLostClasses(t *testing.T) {
	read := func(text string) *datasets.Dataset {
		d, err := datasets.ReadManifest(strings.NewReader("path,label\n"+text), "m.csv", datasets.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct{ list, unread, want string }{
		{"a,heron\nb,heron\nc,stork\nd,\n", "a b", "heron"},
		{"a,heron\nb,heron\nc,stork\nd,\n", "a c d", "stork"},
		{"a,heron\nb,heron\nc,stork\nd,\n", "a d", ""},
		{"a,heron\nb,heron\nc,stork\nd,\n", "", ""},
		{"a,heron\nb,ibis\nc,stork\nd,stork\n", "b a", "heron ibis"},
	} {
		a := Report{source: read(c.list)}
		for _, path := range strings.Fields(c.unread) {
			a.LeftOut = append(a.LeftOut, lookup.LeftOut{Path: path})
		}
		if got := strings.Join(a.lostClasses(), " "); got != c.want {
			t.Errorf("%q without %q: %q, expected %q", c.list, c.unread, got, c.want)
		}
		if told := strings.Join(a.Sentences(), "\n"); c.want != "" != strings.Contains(told, "No image could be read") {
			t.Errorf("%q without %q: %s", c.list, c.unread, told)
		}
	}
}
