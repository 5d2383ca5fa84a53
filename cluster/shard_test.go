package cluster

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text, env string
		want      Shard
	}{
		{text: "2/4", want: Shard{2, 4}},
		{text: "2/4", env: "SLURM_ARRAY_TASK_ID=3", want: Shard{2, 4}},
		{text: "auto/8", env: "SLURM_ARRAY_TASK_ID=3", want: Shard{3, 8}},
		{text: "auto/3", env: "JOB_COMPLETION_INDEX=2", want: Shard{3, 3}},
		{text: "0/4"}, {text: "5/4"}, {text: "5"}, {text: "a/b"}, {text: ""}, {text: "1/9999999999"}, {text: "auto/0"},
		{text: "auto/4"}, {text: "auto", env: "SLURM_ARRAY_TASK_ID=3"}, {text: "auto/8", env: "SLURM_ARRAY_TASK_ID=9"},
		{text: "auto/8", env: "SLURM_ARRAY_TASK_ID=0"}, {text: "auto/3", env: "JOB_COMPLETION_INDEX=3"},
	} {
		name, value, _ := strings.Cut(c.env, "=")
		got, err := Parse(c.text, func(k string) (string, bool) { return value, k == name })
		if got != c.want || (err == nil) != (c.want.Of > 0) {
			t.Errorf("%q with %s: %v, %v, expected %v", c.text, c.env, got, err, c.want)
		}
	}
}

// Ranges are contiguous and, except for the last range, consist of whole units.
func TestRange(t *testing.T) {
	for _, c := range []struct{ total, unit, of int }{{10, 1, 3}, {10, 4, 3}, {8, 1, 8}, {1, 1, 1}, {1000, 32, 8},
		{31, 32, 1}} {
		next := 0
		for i := 1; i <= c.of; i++ {
			first, end, err := Shard{Index: i, Of: c.of}.Range(c.total, c.unit)
			if err != nil || first != next || end <= first || first%c.unit != 0 {
				t.Errorf("%v, %d: %d to %d, %v, expected from %d", c, i, first, end, err, next)
			}
			next = end
		}
		if next != c.total {
			t.Errorf("%v: ends at %d", c, next)
		}
	}
	if first, end, err := (Shard{}).Range(7, 3); first != 0 || end != 7 || err != nil {
		t.Error(first, end, err)
	}
	if _, _, err := (Shard{Index: 1, Of: 4}).Range(10, 4); err == nil {
		t.Error("no error for more shards than units")
	}
}
