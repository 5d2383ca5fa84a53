package folder_test

import (
	"testing"

	"winnow/run/folder"
)

func TestShare(t *testing.T) {
	for want, s := range map[string]folder.Share{
		"0 %": {Of: 10}, "less than 1 %": {Trained: 2048, Of: 8539846}, "58 %": {Trained: 58, Of: 100},
		"more than 99 %": {Trained: 9999, Of: 10000}, "100 %": {Trained: 7, Of: 7},
	} {
		if got := s.Percent(); got != want {
			t.Errorf("%+v: %q, expected %q", s, got, want)
		}
	}
}
