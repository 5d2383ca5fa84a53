package datasets

import (
	"strings"
	"testing"
)

func TestCutCrop(t *testing.T) {
	for path, want := range map[string]Crop{
		"a/b.jpg#xywh=1,2,3,4":            {1, 2, 3, 4},
		"a/b.jpg#xywh=1:2:3:4&id=x":       {1, 2, 3, 4},
		"a/b.jpg#xywh=0,0,1,1&id=17":      {0, 0, 1, 1},
		"a.jpg#xywh=1,1,1,1#xywh=5,6,7,8": {5, 6, 7, 8},
	} {
		file, c, ok := CutCrop(path)
		if !ok || c != want || !strings.HasPrefix(strings.ReplaceAll(path[len(file):], ",", ":"), c.String()) {
			t.Errorf("%s: %q, %v, %v, expected %v", path, file, c, ok, want)
		}
	}
	for _, path := range []string{
		"a.jpg", "#xywh=1,2,3,4", "a.jpg#xywh=1,2,3", "a.jpg#xywh=1,2,3,4,5", "a.jpg#xywh=-1,2,3,4",
		"a.jpg#xywh=01,2,3,4", "a.jpg#xywh=1,2,0,4",
		"a.jpg#xywh=1,2,3,4&id=", "a.jpg#xywh=1,2,3,4&id=/", "a.jpg#xywh=1,2,3,99999999999",
		"a.jpg#xywh=percent:1,2,3,4", "a#b.jpg",
	} {
		if file, c, ok := CutCrop(path); ok || file != path || c != (Crop{}) {
			t.Errorf("%s: %q, %v, %v, expected a file", path, file, c, ok)
		}
	}
	if file, c, ok := CutCrop(Crop{1, 2, 3, 4}.cropPath("x.png", "a/b&c=d#ü")); !ok || file != "x.png" ||
		c != (Crop{1, 2, 3, 4}) {
		t.Errorf("%q, %v, %v", file, c, ok)
	}
}
