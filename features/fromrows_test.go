package features

import (
	"strings"
	"testing"
)

func TestFromRowsRefuses(t *testing.T) {
	for want, c := range map[string]struct {
		rows   [][]float32
		labels []int
	}{
		"found 0 vectors and 0 labels":                  {nil, nil},
		"found 2 vectors and 0 labels":                  {[][]float32{{1}, {2}}, []int{}},
		"found 2 vectors and 1 labels":                  {[][]float32{{1}, {2}}, []int{0}},
		"row 1: found 1 values, expected 2 as in row 0": {[][]float32{{1, 2}, {3}}, []int{0, 1}},
	} {
		if _, err := FromRows(c.rows, c.labels); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}

func TestFromRowsUnlabelled(t *testing.T) {
	s, err := FromRows([][]float32{{1, 2}, {3, 4}}, nil)
	if err != nil || s.Labels != nil || s.Len() != 2 || s.Row(1)[1] != 4 {
		t.Errorf("found %v, %v", s, err)
	}
}
