package datasets

import (
	"slices"
	"testing"
)

// The digest depends on the samples, not on the numbers of classes or on further columns.
func TestDigest(t *testing.T) {
	plain := func() *Dataset {
		return &Dataset{Classes: []string{"a", "b"}, Samples: []Sample{{Path: "x", Label: 0, True: 1, Split: Train},
			{Path: "y", Label: 1, True: Unlabelled, Split: Test}}}
	}
	want := plain().Digest()
	for name, change := range map[string]func(*Dataset){
		"path": func(d *Dataset) { d.Samples[0].Path = "z" }, "label": func(d *Dataset) { d.Samples[0].Label = 1 },
		"truth": func(d *Dataset) { d.Samples[0].True = 0 }, "split": func(d *Dataset) { d.Samples[0].Split = Test },
		"order": func(d *Dataset) { slices.Reverse(d.Samples) }, "name": func(d *Dataset) { d.Classes[0] = "c" },
		"fewer": func(d *Dataset) { d.Samples = d.Samples[:1] },
	} {
		d := plain()
		if change(d); d.Digest() == want {
			t.Errorf("%s: the digest is the same", name)
		}
	}
	d := plain()
	d.Classes, d.Columns = []string{"b", "a"}, []string{"more"}
	for i := range d.Samples {
		s := &d.Samples[i]
		s.Extra = []string{"1"}
		s.Label = 1 - s.Label
		if s.True >= 0 {
			s.True = 1 - s.True
		}
	}
	if d.Digest() != want {
		t.Error("numbers of classes or further columns are in the digest")
	}
}
