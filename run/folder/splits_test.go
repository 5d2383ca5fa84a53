package folder

import (
	"fmt"
	"testing"

	"winnow/datasets"
)

// AnyUsual adds the usual splits of the manifest. Splits that are named remain.
func TestSettleSplits(t *testing.T) {
	for _, c := range []struct {
		has, asked []string
		want       string
	}{
		{[]string{"train", "test", "validation"}, AnyUsual(), "[test query gallery]"},
		{[]string{"train", "query", "gallery"}, AnyUsual(), "[test query gallery]"},
		{[]string{"train", "validation"}, append(AnyUsual(), "train"), "[test query gallery train validation]"},
		{[]string{"train", "test", "gallery"}, append(AnyUsual(), "gallery"), "[test query gallery gallery]"},
		{[]string{"train", "validation"}, []string{"test"}, "[test]"},
		{[]string{"train", "validation"}, nil, "[]"},
		{[]string{"train"}, AnyUsual(), "the manifest has none of the splits test, query and validation; it has train"},
	} {
		r := &Run{Manifest: &datasets.Dataset{Classes: []string{"a"}}, Options: Options{Splits: c.asked}}
		for _, split := range c.has {
			r.Manifest.Samples = append(r.Manifest.Samples, datasets.Sample{Split: split})
		}
		got := ""
		if err := r.settleSplits(); err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(r.Splits)
		}
		if got != c.want {
			t.Errorf("asked for %v of %v: %s, expected %s", c.asked, c.has, got, c.want)
		}
	}
}
